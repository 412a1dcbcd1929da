/** A talk with a model that is told what fits from memory. Both sides are kept, as the settings say. */

import { useEffect, useRef, useState } from "preact/hooks";
import { ask, asRefusal, events, Refusal, response, useAsked } from "../api";
import { Facts, Field, Head, Nothing, Tag, Trouble } from "../parts/basic";
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
  const [lines, set] = useState<Line[]>([]);
  const [typed, type] = useState("");
  const [model, choose] = useState("");
  const [session, keep] = useState("");
  const [error, fail] = useState<Refusal | null>(null);
  const [stop, running] = useState<AbortController | null>(null);
  const there = useAsked<{ models: string[] }>(me.chat && me.scopes.includes("chat") ? "models" : "", (signal) => ask("models", { signal }));
  const end = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (lines.length) end.current?.scrollIntoView({ block: "end" });
  }, [lines]);
  useEffect(() => () => stop?.abort(), [stop]);

  const last = (change: (line: Line) => Line) => set((all) => [...all.slice(0, -1), change(all.at(-1)!)]);
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
      const body = { message, ...(session && { session_id: session }), ...(model && { model }) };
      const got = await response("chat", { method: "POST", body, signal: going.signal });
      for await (const said of events(got)) {
        if (typeof said["token"] === "string") last((line) => ({ ...line, text: line.text + said["token"] }));
        if (said["error"]) throw told(said["error"]);
        if (!said["done"]) continue;
        keep(String(said["session_id"] ?? session));
        last((line) => ({
          ...line,
          model: String(said["model"] ?? ""),
          used: (said["memories_used"] as string[] | undefined) ?? [],
          partial: said["partial"] === true,
        }));
      }
    } catch (failed) {
      if (going.signal.aborted) last((line) => ({ ...line, partial: true }));
      else fail(asRefusal(failed));
      set((all) => (all.at(-1)?.text === "" && all.at(-1)?.role === "assistant" ? all.slice(0, -1) : all));
    }
    running(null);
    field.current?.focus();
  };
  const fresh = () => {
    stop?.abort();
    set([]);
    keep("");
    fail(null);
    field.current?.focus();
  };
  if (!me.chat || !me.scopes.includes("chat"))
    return (
      <>
        <Head title="Chat" />
        <Nothing>
          <p>No model is set up for chat, or this token may not chat.</p>
          <p>
            The section <code>[llm]</code> of config.toml names one.
          </p>
        </Nothing>
      </>
    );
  return (
    <div class="chat">
      <Head title="Chat">
        <div class="acts">
          {(there.data?.models.length ?? 0) > 1 && (
            <label class="space">
              <span>Model</span>
              <select value={model} onChange={(event) => choose(event.currentTarget.value)}>
                <option value="">{me.model ?? "as set up"}</option>
                {there.data!.models.filter((one) => one !== me.model).map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
          )}
          {session && (
            <a class="button quiet" href={address("session", session)}>
              Open as a session
            </a>
          )}
          {lines.length > 0 && (
            <button type="button" class="quiet" onClick={fresh}>
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
            {line.text ? <Said text={line.text} whole /> : <p class="waiting">Thinking…</p>}
            {line.used && (
              <Facts
                of={[line.model, line.used.length > 0 && `told from memory: ${line.used.join(", ")}`, line.used.length === 0 && "nothing from memory fitted"]}
              />
            )}
          </article>
        ))}
      </div>
      {error && <Trouble error={error} />}
      {there.error && (
        <p class="remark">
          Which models there are could not be asked: {there.error.message} {there.error.hint}
        </p>
      )}
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
    </div>
  );
}

function told(error: unknown): Refusal {
  if (typeof error === "string") return new Refusal(0, "error", error, "");
  const said = error as Record<string, unknown>;
  return new Refusal(0, String(said["code"] ?? "error"), String(said["message"] ?? "The model failed."), String(said["hint"] ?? ""));
}
