/** Ask, and read what was said; without a question, the sessions of late. */

import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { ask, set, useAsked } from "../api";
import { Answer, Facts, Head, Nothing, Time, Trouble } from "../parts/basic";
import { chosen, FilterBox, type Chosen } from "../parts/filters";
import { address, go } from "../route";
import type { Found, Passage, SessionItem } from "../types";
import { base, counted, titled } from "../words";
import { finder } from "../text";
import { Result } from "./result";

const RECENT = 20;

export function Search({ query }: { query: URLSearchParams }) {
  const q = query.get("q") ?? "";
  const filters = chosen(query);
  const order = query.get("order") === "time" ? "time" : "";
  const [typed, type] = useState(q);
  const [said, tell] = useState("");
  useLayoutEffect(() => type(q), [q]); // before anything can be typed into what is drawn
  const to = (next: string, kept: Chosen) => go(address("search", "", { q: next.trim(), ...kept, order }));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    to(typed, filters);
  };
  return (
    <div class="sided">
      <Head hidden title={q ? `“${q}”` : "Search"} />
      <form class="ask" role="search" onSubmit={submit}>
        <label class="for-readers" for="q">
          What was said about …
        </label>
        <input
          id="q"
          data-search
          type="search"
          name="q"
          autocomplete="off"
          maxLength={2000}
          placeholder="What was said about …"
          value={typed}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" class="main">
          Search
        </button>
      </form>
      <aside class="side" aria-label="Filters">
        <FilterBox of={filters} set={(next) => to(typed, next)} />
      </aside>
      <div class="column">
        {/* There before anything is said in it: else a screen reader would not hear it. */}
        <div class="over">
          <p class="count" role="status">
            {q && said}
          </p>
          {q && (
            <label class="space">
              <span>Order</span>
              <select value={order} onChange={(event) => go(address("search", "", { q, ...filters, order: event.currentTarget.value }))}>
                <option value="">best first</option>
                <option value="time">oldest first</option>
              </select>
            </label>
          )}
        </div>
        {q ? <Results q={q} filters={filters} order={order} tell={tell} /> : <Recent filters={filters} />}
      </div>
    </div>
  );
}

/** After so long it is said why it takes long. */
const LONG_MS = 2000;

interface ResultsProps {
  q: string;
  filters: Chosen;
  order: "" | "time";
  tell: (said: string) => void;
}

function Results({ q, filters, order, tell }: ResultsProps) {
  const key = JSON.stringify([q, filters]);
  const question = { query: q, ...set(filters) };
  // The first order comes at once; reading the passages again may take seconds, and then puts its own in that one's place.
  const asked = useAsked<Found>(key, (signal) => ask("passages", { method: "POST", body: { ...question, rerank: false }, signal }));
  const closer = useAsked<Found>(!asked.waiting && asked.data?.again ? key : "", (signal) =>
    ask("passages", { method: "POST", body: question, signal }),
  );
  const found = (!closer.waiting && !asked.waiting && closer.data) || asked.data;
  const find = useMemo(() => finder(found?.terms ?? words(q)), [found, q]);
  const late = useLate(asked.waiting ? key : "");
  useLayoutEffect(() => {
    if (asked.error) tell("");
    else if (asked.waiting || !found) tell(late ? "Still searching… The first question after a start waits for the models to be loaded." : "Searching…");
    else tell(`${counted(found.passages.length, "passage")}${found.timing ? ` in ${Math.round(found.timing.total_ms)} ms` : ""}${closer.waiting ? ". Reading them again…" : ""}`);
  });
  if (asked.error) return <Trouble error={asked.error} again={asked.again} />;
  return (
    <section aria-label="Results" aria-busy={asked.waiting}>
      {closer.error && <Trouble error={closer.error} again={closer.again} />}
      {found && (
        <div class={asked.waiting ? "stale" : undefined}>
          {found.notes.map((note) => (
            <p key={note} class="remark">
              {note}
            </p>
          ))}
          {found.stages.length > 0 && (
            <details class="aside">
              <summary>
                How this was ranked<span class="glimpse"> {found.stages.join(" · ")}</span>
              </summary>
              <ul>
                {found.stages.map((one) => (
                  <li key={one}>{one}</li>
                ))}
              </ul>
            </details>
          )}
          {ordered(found.passages, order).map((one) => (
            <Result key={`${one.session} ${one.first_turn} ${one.turn}`} passage={one} find={find} question={question} />
          ))}
          {!found.passages.length && (
            <Nothing>
              <p>Nothing was found.</p>
              {found.projects.length > 0 && <p>Projects that exist: {found.projects.map(base).join(", ")}.</p>}
            </Nothing>
          )}
        </div>
      )}
    </section>
  );
}

const ordered = (passages: Passage[], order: "" | "time"): Passage[] =>
  [...passages].sort((a, b) => (order ? (a.time ?? "").localeCompare(b.time ?? "") : 0) || a.rank - b.rank);

/** Whether what `key` names has gone on for long; "" names nothing. */
function useLate(key: string): boolean {
  const [late, set] = useState("");
  useEffect(() => {
    if (!key) return;
    const soon = setTimeout(() => set(key), LONG_MS);
    return () => clearTimeout(soon);
  }, [key]);
  return key !== "" && late === key;
}

function Recent({ filters }: { filters: Chosen }) {
  const { role: _, ...kept } = filters;
  const asked = useAsked<{ sessions: SessionItem[] }>(JSON.stringify(kept), (signal) =>
    ask("sessions", { query: { ...kept, limit: RECENT }, signal }),
  );
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">Latest sessions</h2>
      <Answer of={asked}>{({ sessions }) => <SessionList sessions={sessions} />}</Answer>
    </section>
  );
}

export function SessionList({ sessions }: { sessions: SessionItem[] }) {
  if (!sessions.length)
    return (
      <Nothing>
        <p>No session is stored yet, or none fits the filters.</p>
        <p>
          <code>raw-rag-ingest</code> reads the logs of your agents.
        </p>
      </Nothing>
    );
  return (
    <ol class="list">
      {sessions.map((one) => (
        <li key={one.session} data-step tabIndex={-1}>
          <a data-open class="list-title" href={address("session", one.session)}>
            {titled(one)}
          </a>
          <Facts of={[one.agent, base(one.project), one.branch, counted(one.turns, "turn"), <Time of={one.last} />]} />
        </li>
      ))}
    </ol>
  );
}

const words = (q: string): string[] => q.match(/[\p{L}\p{N}_.-]{3,}/gu) ?? [];

