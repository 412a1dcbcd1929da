/** Ask, and read what was said; without a question, the sessions of late. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, set, useAsked } from "../api";
import { Answer, Facts, Head, Nothing, Time, Trouble } from "../parts/basic";
import { chosen, FilterBox, type Chosen } from "../parts/filters";
import { address, go } from "../route";
import type { Found, SessionItem } from "../types";
import { base, counted, titled } from "../words";
import { finder } from "../text";
import { Result } from "./result";

const RECENT = 20;
/** What the server says of an answer that could be read again. */
const LEFT_OUT = "rerank: left out, as asked";

export function Search({ query }: { query: URLSearchParams }) {
  const q = query.get("q") ?? "";
  const filters = chosen(query);
  const [typed, type] = useState(q);
  useEffect(() => type(q), [q]);
  const to = (next: string, kept: Chosen) => go(address("search", "", { q: next.trim(), ...kept }));
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
      <div class="column">{q ? <Results q={q} filters={filters} /> : <Recent filters={filters} />}</div>
    </div>
  );
}

function Results({ q, filters }: { q: string; filters: Chosen }) {
  const key = JSON.stringify([q, filters]);
  const question = { query: q, ...set(filters) };
  // The first order comes at once; reading the passages again may take seconds, and then puts its own in that one's place.
  const asked = useAsked<Found>(key, (signal) => ask("passages", { method: "POST", body: { ...question, rerank: false }, signal }));
  const first = asked.waiting ? null : asked.data;
  const closer = useAsked<Found>(first?.passages.length && first.stages.some((one) => one === LEFT_OUT) ? key : "", (signal) =>
    ask("passages", { method: "POST", body: question, signal }),
  );
  const found = (!closer.waiting && first && closer.data) || asked.data;
  const find = useMemo(() => finder(found?.terms ?? words(q)), [found, q]);
  if (asked.error) return <Trouble error={asked.error} again={asked.again} />;
  return (
    <section aria-label="Results" aria-busy={asked.waiting}>
      <p class="count" aria-live="polite">
        {asked.waiting ? "Searching…" : found && `${counted(found.passages.length, "passage")}${found.timing ? ` in ${Math.round(found.timing.total_ms)} ms` : ""}`}
        {closer.waiting && ". Reading them again…"}
      </p>
      {closer.error && <Trouble error={closer.error} again={closer.again} />}
      {found && (
        <div class={asked.waiting ? "stale" : undefined}>
          {found.notes.map((note) => (
            <p key={note} class="remark">
              {note}
            </p>
          ))}
          {found.passages.map((one) => (
            <Result key={`${one.session} ${one.first_turn} ${one.turn}`} passage={one} find={find} question={question} />
          ))}
          {!found.passages.length && (
            <Nothing>
              <p>Nothing was found.</p>
              {found.projects.length > 0 && <p>Projects that exist: {found.projects.map(base).join(", ")}.</p>}
            </Nothing>
          )}
          {found.stages.length > 0 && (
            <details class="aside how">
              <summary>How this was ranked</summary>
              <ul>
                {found.stages.map((one) => (
                  <li key={one}>{one}</li>
                ))}
              </ul>
            </details>
          )}
        </div>
      )}
    </section>
  );
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

