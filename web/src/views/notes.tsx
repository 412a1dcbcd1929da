/** The curated layer: what is held to be true, and what waits to be. */

import { useState } from "preact/hooks";
import { ask, asRefusal, useAsked, type Refusal } from "../api";
import { Answer, Copy, Facts, Field, Head, More, Nothing, Tag, Time, Trouble } from "../parts/basic";
import { Evidence } from "../parts/evidence";
import { address, go } from "../route";
import type { Candidate, Me, Note } from "../types";

const NOTE_STATES = ["active", "superseded", "deprecated"];
const CANDIDATE_STATES = ["pending", "promoted", "rejected"];
const PAGE = 50;

export function Notes({ query, me }: { query: URLSearchParams; me: Me }) {
  const tab = query.get("show") === "candidates" ? "candidates" : "notes";
  const status = query.get("status") ?? (tab === "notes" ? "active" : "pending");
  const states = tab === "notes" ? NOTE_STATES : CANDIDATE_STATES;
  const curates = me.scopes.includes("curate");
  return (
    <>
      <Head title={tab === "notes" ? "Notes" : "Candidates"}>
        <nav class="tabs" aria-label="What is shown">
          <a href={address("notes")} aria-current={tab === "notes" ? "page" : undefined}>
            Notes
          </a>
          {curates && (
            <a href={address("notes", "", { show: "candidates" })} aria-current={tab === "candidates" ? "page" : undefined}>
              Candidates
            </a>
          )}
        </nav>
      </Head>
      <div class="bar">
        <Field label="Status">
          <select
            value={status}
            onChange={(event) => go(address("notes", "", { show: tab === "notes" ? "" : tab, status: event.currentTarget.value }))}
          >
            {states.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
      </div>
      {tab === "notes" ? (
        <NoteList key={status} status={status} writes={me.scopes.includes("write")} />
      ) : curates ? (
        <CandidateList key={status} status={status} />
      ) : (
        <Nothing>
          <p>Candidates need a token with the scope “curate”: they are shown, promoted and rejected here then. Yours has: {me.scopes.join(", ") || "none"}.</p>
        </Nothing>
      )}
    </>
  );
}

function usePages<T>(path: string, name: string, status: string) {
  const asked = useAsked<{ items: T[]; next: unknown }>(`${path} ${status}`, async (signal) => {
    const got = await ask<Record<string, unknown>>(path, { query: { status, limit: PAGE }, signal });
    return { items: got[name] as T[], next: got["next"] };
  });
  const more = async () => {
    const { data } = asked;
    if (!data) return;
    const got = await ask<Record<string, unknown>>(path, { query: { status, limit: PAGE, cursor: String(data.next) } });
    asked.put({ items: [...data.items, ...(got[name] as T[])], next: got["next"] });
  };
  return { asked, more };
}

function NoteList({ status, writes }: { status: string; writes: boolean }) {
  const { asked, more } = usePages<Note>("notes", "notes", status);
  return (
    <Answer of={asked}>
      {({ items, next }) => (
        <>
          {!items.length && (
            <Nothing>
              <p>No {status} note.</p>
              <p>Agents save notes with memory_save, and candidates become notes when they are promoted.</p>
            </Nothing>
          )}
          <ul class="list cards">
            {items.map((one) => (
              <OneNote key={one.id} note={one} writes={writes && status === "active"} changed={asked.again} />
            ))}
          </ul>
          <More next={next} waiting={asked.waiting} ask={more} />
        </>
      )}
    </Answer>
  );
}

function OneNote({ note, writes, changed }: { note: Note; writes: boolean; changed: () => void }) {
  const [editing, edit] = useState(false);
  const act = useAct(changed);
  const path = `memory/${encodeURIComponent(note.id)}`;
  return (
    <li data-step tabIndex={-1}>
      {editing ? (
        <Edit
          label="The note"
          text={note.statement}
          done="Save"
          save={(content) => act.run(() => ask(path, { method: "PUT", body: { content } })).then((ok) => ok && edit(false))}
          cancel={() => edit(false)}
          busy={act.busy}
        />
      ) : (
        <p class="statement">{note.statement}</p>
      )}
      <Facts
        of={[
          <Tag>{note.kind}</Tag>,
          note.topic,
          ...note.tags.map((tag) => `#${tag}`),
          note.source && `from ${note.source}`,
          note.importance !== null && `importance ${note.importance}`,
          <Time of={note.created} />,
          note.superseded_by && `replaced by ${note.superseded_by}`,
          note.supersedes && `replaces ${note.supersedes}`,
        ]}
      />
      <Evidence ids={note.evidence} />
      {!editing && (
        <div class="acts">
          {writes && (
            <button type="button" data-open onClick={() => edit(true)}>
              Edit
            </button>
          )}
          <Copy text={note.statement} current>
            Copy
          </Copy>
          {writes && <Sure label="Deprecate" sure="Deprecate for good" busy={act.busy} act={() => act.run(() => ask(path, { method: "DELETE" }))} />}
        </div>
      )}
      {act.error && <Trouble error={act.error} />}
    </li>
  );
}

function CandidateList({ status }: { status: string }) {
  const { asked, more } = usePages<Candidate>("candidates", "candidates", status);
  return (
    <Answer of={asked}>
      {({ items, next }) => (
        <>
          {!items.length && (
            <Nothing>
              <p>No {status} candidate.</p>
              <p>
                <code>raw-rag sweep</code> looks through what was said for statements worth a note.
              </p>
            </Nothing>
          )}
          <ul class="list cards">
            {items.map((one) => (
              <OneCandidate key={one.id} candidate={one} pending={status === "pending"} changed={asked.again} />
            ))}
          </ul>
          <More next={next} waiting={asked.waiting} ask={more} />
        </>
      )}
    </Answer>
  );
}

function OneCandidate({ candidate, pending, changed }: { candidate: Candidate; pending: boolean; changed: () => void }) {
  const [doing, set] = useState<"" | "edit" | "reject">("");
  const act = useAct(changed);
  const path = `candidates/${encodeURIComponent(candidate.id)}`;
  const promote = (body: object) => act.run(() => ask(`${path}/promote`, { method: "POST", body }));
  return (
    <li data-step tabIndex={-1}>
      {doing === "edit" ? (
        <Edit label="In your words" text={candidate.statement} done="Promote" save={(statement) => promote({ statement })} cancel={() => set("")} busy={act.busy} />
      ) : (
        <p class="statement">{candidate.statement}</p>
      )}
      {candidate.quote && candidate.quote !== candidate.statement && <blockquote>{candidate.quote}</blockquote>}
      <Facts
        of={[
          <Tag>{candidate.kind}</Tag>,
          candidate.rule && `found by ${candidate.rule}`,
          candidate.confidence !== null && `confidence ${candidate.confidence}`,
          <Time of={candidate.created} />,
          candidate.reason && `because: ${candidate.reason}`,
        ]}
      />
      <Evidence ids={candidate.evidence} />
      {doing === "reject" && (
        <Edit
          label="Why not"
          text=""
          done="Reject"
          save={(reason) => act.run(() => ask(`${path}/reject`, { method: "POST", body: { reason } }))}
          cancel={() => set("")}
          busy={act.busy}
        />
      )}
      {pending && !doing && (
        <div class="acts">
          <button type="button" class="main" data-open disabled={act.busy} onClick={() => promote({})}>
            Promote
          </button>
          <button type="button" onClick={() => set("edit")}>
            Edit
          </button>
          <button type="button" onClick={() => set("reject")}>
            Reject
          </button>
          <Copy text={candidate.statement} current>
            Copy
          </Copy>
        </div>
      )}
      {act.error && <Trouble error={act.error} />}
    </li>
  );
}

interface EditProps {
  label: string;
  text: string;
  done: string;
  busy: boolean;
  save: (text: string) => void;
  cancel: () => void;
}

function Edit({ label, text, done, busy, save, cancel }: EditProps) {
  const [typed, type] = useState(text);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim()) save(typed.trim());
  };
  return (
    <form class="edit" onSubmit={submit}>
      <Field label={label}>
        <textarea rows={3} required autofocus value={typed} onInput={(event) => type(event.currentTarget.value)} />
      </Field>
      <div class="acts">
        <button type="submit" class="main" disabled={busy}>
          {done}
        </button>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

/** A button that asks once more. */
export function Sure({ label, sure, busy, act }: { label: string; sure: string; busy: boolean; act: () => void }) {
  const [asking, set] = useState(false);
  if (!asking)
    return (
      <button type="button" class="quiet" onClick={() => set(true)}>
        {label}
      </button>
    );
  return (
    <>
      <button type="button" class="danger" disabled={busy} autofocus onClick={act}>
        {sure}
      </button>
      <button type="button" class="quiet" onClick={() => set(false)}>
        Cancel
      </button>
    </>
  );
}

/** One change at a time, its trouble, and what is to be done after it. */
export function useAct(after: () => void) {
  const [busy, set] = useState(false);
  const [error, fail] = useState<Refusal | null>(null);
  const run = async (change: () => Promise<unknown>): Promise<boolean> => {
    set(true);
    fail(null);
    try {
      await change();
      after();
      return true;
    } catch (failed) {
      fail(asRefusal(failed));
      return false;
    } finally {
      set(false);
    }
  };
  return { busy, error, run };
}
