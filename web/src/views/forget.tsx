/** Forgetting: which sessions, what would go, and only then for good. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ask, asRefusal, set as only, type Refusal } from "../api";
import { Facts, Field, Head, Nothing, Time, Trouble } from "../parts/basic";
import { FilterFields, chosen, type Chosen } from "../parts/filters";
import { address, instead } from "../route";
import type { Forgotten } from "../types";
import { base, counted, titled } from "../words";

const WORD = "forget";

/** What would go, and by which filters: these are what is sent then, whatever the form says by that time. */
interface Seen {
  key: string;
  asked: Record<string, string | number>;
  got: Forgotten;
}

export function Forget({ query }: { query: URLSearchParams }) {
  const { role: _, ...filters } = chosen(query);
  const session = query.get("session") ?? "";
  const asked = only({ session, ...filters });
  const key = JSON.stringify(asked);
  const [seen, show] = useState<Seen | null>(null);
  const [gone, done] = useState<Forgotten | null>(null);
  const [busy, set] = useState(false);
  const [error, fail] = useState<Refusal | null>(null);
  const looking = useRef<AbortController | null>(null);
  const preview = seen?.key === key ? seen : null;
  // Other filters, from the form or from the way back in the history: what was seen is not what they mean.
  // Before anybody can press anything: a look of the new filters must not be taken for one of the old.
  useLayoutEffect(() => {
    show(null);
    fail(null);
    return () => {
      if (looking.current) set(false);
      looking.current?.abort();
      looking.current = null;
    };
  }, [key]);
  const change = (next: Chosen & { session?: string }) => instead(address("forget", "", { session, ...next }));
  const look = async () => {
    const going = new AbortController();
    looking.current = going;
    set(true);
    fail(null);
    show(null);
    done(null);
    try {
      const got = await ask<Forgotten>("forget", { method: "POST", body: { ...asked, dry_run: true }, signal: going.signal });
      show({ key, asked, got });
    } catch (failed) {
      if (!going.signal.aborted) fail(asRefusal(failed));
    }
    if (looking.current === going) set(false);
  };
  const forget = async (shown: Seen, reason: string) => {
    looking.current = null;
    set(true);
    fail(null);
    try {
      done(await ask<Forgotten>("forget", { method: "POST", body: { ...shown.asked, dry_run: false, ...only({ reason }) } }));
      show(null);
    } catch (failed) {
      fail(asRefusal(failed));
    }
    set(false);
  };
  return (
    <>
      <Head title="Forget" />
      <p class="lead">
        What is forgotten is blanked for good: its words leave the store, the index and the vectors. The agents' own logs are not touched. Nothing goes
        before you have seen it.
      </p>
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void look();
        }}
      >
        <div class="fields across">
          <Field label="Session" hint="Its id, as it stands in its address">
            <input name="session" autocomplete="off" value={session} onChange={(event) => change({ ...filters, session: event.currentTarget.value.trim() })} />
          </Field>
          <FilterFields of={filters} set={change} which={["agent", "project", "branch", "after", "before"]} />
        </div>
        <button type="submit" disabled={busy || !Object.keys(asked).length}>
          {busy ? "Looking…" : "Show what would go"}
        </button>
        {!Object.keys(asked).length && <p class="fine">Choose at least one filter.</p>}
      </form>
      {error && <Trouble error={error} />}
      <div aria-live="polite">
        {gone && (
          <p class="remark good">
            Forgotten: {counted(gone.turns, "turn")} in {counted(gone.sessions, "session")}. <Kept count={gone.shielded} stay="stayed" />
          </p>
        )}
        {preview && <Preview key={key} preview={preview.got} busy={busy} forget={(reason) => void forget(preview, reason)} />}
      </div>
    </>
  );
}

/** Sessions that somebody keeps are not forgotten by filters. */
function Kept({ count, stay = "stays" }: { count: number; stay?: string }) {
  if (!count) return null;
  const verb = stay === "stays" && count > 1 ? "stay" : stay;
  return (
    <>
      {counted(count, "session")} that the filters mean too {verb}: {count === 1 ? "it is" : "they are"} kept (<code>raw-rag keep</code>).
    </>
  );
}

function Preview({ preview, busy, forget }: { preview: Forgotten; busy: boolean; forget: (reason: string) => void }) {
  const [word, type] = useState("");
  const [reason, say] = useState("");
  if (!preview.turns)
    return (
      <Nothing>
        <p>
          Nothing would go. <Kept count={preview.shielded} />
        </p>
      </Nothing>
    );
  const left = preview.sessions - preview.preview.length;
  return (
    <section aria-labelledby="goes">
      <h2 id="goes">
        {counted(preview.turns, "turn")} in {counted(preview.sessions, "session")} would go
      </h2>
      <ol class="list">
        {preview.preview.map((one) => (
          <li key={one.session} data-step tabIndex={-1}>
            <a data-open class="list-title" href={address("session", one.session)}>
              {titled(one)}
            </a>
            <Facts of={[one.agent, base(one.project), counted(one.turns, "turn"), <Time of={one.started} />]} />
          </li>
        ))}
      </ol>
      {left > 0 && <p>And {counted(left, "more session")}.</p>}
      {preview.shielded > 0 && (
        <p class="remark">
          <Kept count={preview.shielded} />
        </p>
      )}
      <form
        class="panel danger-zone"
        onSubmit={(event) => {
          event.preventDefault();
          if (word === WORD) forget(reason);
        }}
      >
        <Field label="Reason (for the journal; may be empty)">
          <input name="reason" autocomplete="off" maxLength={200} value={reason} onInput={(event) => say(event.currentTarget.value)} />
        </Field>
        <Field label={`Type “${WORD}” to go on`}>
          <input name="word" autocomplete="off" autocapitalize="none" value={word} onInput={(event) => type(event.currentTarget.value.trim())} />
        </Field>
        <button type="submit" class="danger" disabled={busy || word !== WORD}>
          Forget {counted(preview.turns, "turn")} for good
        </button>
      </form>
    </section>
  );
}
