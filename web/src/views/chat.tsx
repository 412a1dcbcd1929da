/** A talk with a model that is told what fits from memory. Both sides are kept, as the settings say. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, asRefusal, events, Refusal, response, useAsked } from "../api";
import { Facts, Field, Head, Nothing, Tag, Trouble } from "../parts/basic";
import { Evidence } from "../parts/evidence";
import { Said } from "../parts/said";
import { address } from "../route";
import type { Me } from "../types";

interface Line {
  role: "user" | "assistant";
  text: string;
  model?: string;
  used?: string[];
  partial?: boolean;
}

export function Chat({ me }: { me: Me }) {
  const [talk, next] = useState(1);
  const [model, choose] = useState("");
  const there = useAsked<{ models: string[] }>("models", (signal) => ask("models", { signal }));
  const models = (there.data?.models ?? []).filter((one) => one !== me.model);
  return (
    <div class="chat">
      {/* A new chat is a new talk: what still comes of the old one comes to nothing. */}
      <Talk key={talk} me={me} first={talk === 1} model={model} again={() => next(talk + 1)}>
        {models.length > 0 && (
          <label class="space">
            <span>Model</span>
            <select value={model} onChange={(event) => choose(event.currentTarget.value)}>
              <option value="">{me.model ?? "as set up"}</option>
              {models.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
      </Talk>
      {there.error && (
        <p class="remark">
          Which models there are could not be asked: {there.error.message} {there.error.hint}
        </p>
      )}
    </div>
  );
}

interface TalkProps {
  me: Me;
  first: boolean;
  model: string;
  again: () => void;
  children: ComponentChildren;
}

function Talk({ me, first, model, again, children }: TalkProps) {
  const [lines, set] = useState<Line[]>([]);
  const [typed, type] = useState("");
  const [stored, store] = useState("");
  const [error, fail] = useState<Refusal | null>(null);
  const [stop, running] = useState<AbortController | null>(null);
  const session = useRef(named()); // known before the first words: what is stopped before them goes on in the same session
  const end = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (lines.length) end.current?.scrollIntoView({ block: "end" });
  }, [lines]);
  useEffect(() => () => stop?.abort(), [stop]);
  useEffect(() => {
    if (!first) field.current?.focus();
  }, []);

  const last = (change: (line: Line) => Line) => set((all) => [...all.slice(0, -1), change(all.at(-1)!)]);
  const keep = (id: string | null) => {
    if (id) store((session.current = id));
  };
  const send = async (event?: Event) => {
    event?.preventDefault();
    const message = typed.trim();
    if (!message || stop) return;
    const going = new AbortController();
    running(going);
    fail(null);
    type("");
    set((all) => [...all, { role: "user", text: message }, { role: "assistant", text: "" }]);
    try {
      const body = { message, session_id: session.current, ...(model && { model }) };
      const got = await response("chat", { method: "POST", body, signal: going.signal });
      keep(got.headers.get("x-session-id"));
      let ended = false;
      for await (const said of events(got)) {
        if (typeof said["token"] === "string") last((line) => ({ ...line, text: line.text + said["token"] }));
        if (said["error"]) throw told(said["error"] as Record<string, unknown>);
        if (!said["done"]) continue;
        ended = true;
        last((line) => ({ ...line, model: String(said["model"]), used: said["memories_used"] as string[], partial: said["partial"] === true }));
      }
      if (!ended) throw new Refusal(0, "unreachable", "The server broke off in the middle of the answer.", "What came is above.");
    } catch (failed) {
      const refusal = going.signal.aborted ? null : asRefusal(failed);
      fail(refusal);
      keep(refusal?.session ?? null);
      set((all) => (all.at(-1)!.text ? [...all.slice(0, -1), { ...all.at(-1)!, partial: true }] : all.slice(0, -1)));
    }
    running(null);
    field.current?.focus();
  };
  return (
    <>
      <Head title="Chat">
        <div class="acts">
          {children}
          {stored && (
            <a class="button quiet" href={address("session", stored)}>
              Open as a session
            </a>
          )}
          {lines.length > 0 && (
            <button type="button" class="quiet" onClick={again}>
              New chat
            </button>
          )}
        </div>
      </Head>
      {!lines.length && (
        <Nothing>
          <p>Ask something. What fits from memory is given to the model with your question.</p>
        </Nothing>
      )}
      <div class="turns" role="log" aria-label="The talk" aria-busy={stop !== null}>
        {lines.map((line, n) => (
          <article key={n} class={`turn ${line.role}`} data-step tabIndex={-1} aria-label={line.role}>
            <p class="who">
              <strong>{line.role}</strong>
              {line.partial && <Tag kind="warn">broke off</Tag>}
            </p>
            {line.text ? <Said text={line.text} whole /> : !line.used && <p class="waiting">Thinking…</p>}
            {line.used && (
              <>
                <Facts of={[line.model, line.used.length === 0 && "nothing from memory fitted"]} />
                {me.scopes.includes("read") && <Evidence ids={line.used} label="Told from memory" />}
              </>
            )}
          </article>
        ))}
      </div>
      {error && <Trouble error={error} />}
      <form class="say" onSubmit={send}>
        <Field label="Message" hint="Enter sends, Shift+Enter makes a new line">
          <textarea
            ref={field}
            name="message"
            rows={3}
            value={typed}
            onInput={(event) => type(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && void send(event)}
          />
        </Field>
        <div class="acts">
          {stop ? (
            <button type="button" onClick={() => stop.abort()}>
              Stop
            </button>
          ) : (
            <button type="submit" class="main" disabled={!typed.trim()}>
              Send
            </button>
          )}
        </div>
      </form>
      <div ref={end} />
    </>
  );
}

/** A name for a new chat. (`randomUUID` is not there where the page came over plain HTTP from another machine.) */
function named(): string {
  return `chat-${[...crypto.getRandomValues(new Uint8Array(16))].map((one) => one.toString(16).padStart(2, "0")).join("")}`;
}

function told(said: Record<string, unknown>): Refusal {
  return new Refusal(0, String(said["code"]), String(said["message"]), String(said["hint"] ?? ""));
}
