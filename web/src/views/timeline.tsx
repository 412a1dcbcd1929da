/** When there was how much, of whom, about what; and what was learned when. */

import { useMemo } from "preact/hooks";
import { ask, useAsked } from "../api";
import { bins, long, MEASURES, number as nth, sums, type Measure } from "../calendar";
import { Answer, Facts, Field, Head, Nothing, Tag, Time } from "../parts/basic";
import { Bars, Growth, HeatMap } from "../parts/charts";
import { chosen, FilterBox, type Chosen } from "../parts/filters";
import { address, go, instead } from "../route";
import type { Day, SessionItem, Timeline } from "../types";
import { apart, counted, day, number, tone } from "../words";
import { SessionList } from "./search";

const MOST_NAMES = 8;
const REST = "others";

export function TimelineView({ query }: { query: URLSearchParams }) {
  const { role: _, branch: __, ...filters } = chosen(query);
  const measure = (MEASURES as string[]).includes(query.get("of") ?? "") ? (query.get("of") as Measure) : "turns";
  const by = query.get("by") === "project" ? "project" : "agent";
  const picked = query.get("day") ?? "";
  const asked = useAsked<Timeline>(JSON.stringify(filters), (signal) => ask("timeline", { query: filters, signal }));
  const here = (more: Record<string, string>, next: Chosen = filters) => address("timeline", "", { ...next, of: query.get("of"), by: query.get("by"), ...more });
  return (
    <div class="sided">
      <Head title="Timeline" />
      <aside class="side" aria-label="What is shown">
        <div class="fields">
          <Field label="Measure">
            <select value={measure} onChange={(event) => go(here({ of: event.currentTarget.value }))}>
              {MEASURES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </Field>
          <Field label="Stacked by">
            <select value={by} onChange={(event) => go(here({ by: event.currentTarget.value }))}>
              <option>agent</option>
              <option>project</option>
            </select>
          </Field>
        </div>
        <FilterBox of={filters} set={(next) => go(here({}, next))} which={["agent", "project", "after", "before"]} />
      </aside>
      <div class="column wide">
        <Answer of={asked}>
          {(timeline) =>
            timeline.days.length ? (
              <Plots timeline={timeline} measure={measure} by={by} picked={picked} pick={(one) => instead(here({ day: one }))} filters={filters} />
            ) : (
              <Nothing>
                <p>Nothing was said in this time.</p>
              </Nothing>
            )
          }
        </Answer>
      </div>
    </div>
  );
}

interface PlotsProps {
  timeline: Timeline;
  measure: Measure;
  by: "agent" | "project";
  picked: string;
  pick: (day: string) => void;
  filters: Chosen;
}

function Plots({ timeline, measure, by, picked, pick, filters }: PlotsProps) {
  const { days } = timeline;
  const where = useMemo(() => apart(days.flatMap((one) => one.project ?? [])), [days]);
  const label = (one: Day): string => (by === "agent" ? one.agent : (one.project && where.get(one.project)) || "no project");
  const names = useMemo(() => ranked(days, measure, label), [days, measure, by]);
  const key = (one: Day) => (names.includes(label(one)) ? label(one) : REST);
  const stacked = useMemo(() => bins(sums(days, measure, key)), [days, measure, by, names]);
  const perDay = useMemo(() => new Map([...sums(days, measure)].map(([one, of]) => [one, of.get("") ?? 0])), [days, measure]);
  const tokens = useMemo(() => bins(sums(days, "tokens")), [days]);
  const total = (of: Day[]) => of.reduce((sum, one) => sum + one[measure], 0);
  const shown = days.some((one) => !names.includes(label(one))) ? [...names, REST] : names;
  return (
    <>
      <section aria-labelledby="calendar">
        <h2 id="calendar">The year, day by day</h2>
        <HeatMap values={perDay} what={measure} chosen={picked} choose={pick} />
        {picked && <OneDay picked={picked} count={perDay.get(picked) ?? 0} measure={measure} filters={filters} />}
      </section>
      <section aria-labelledby="bars">
        <h2 id="bars">
          {title(measure)} by {by}
        </h2>
        <Bars bins={stacked} names={shown} what={measure} label={`${title(measure)} by ${by}`} />
        <ul class="legend">
          {shown.map((name) => (
            <li key={name}>
              <svg width={12} height={12} aria-hidden="true">
                <rect class={tone(shown, name)} width={12} height={12} rx={2} />
              </svg>
              {name} <span class="fine">{number(total(days.filter((one) => key(one) === name)))}</span>
            </li>
          ))}
        </ul>
        <DayTable days={days} where={where} />
      </section>
      <Projects days={days} measure={measure} where={where} />
      <section aria-labelledby="growth">
        <h2 id="growth">Tokens stored</h2>
        <Growth bins={tokens} what="tokens" label="Tokens stored" />
      </section>
      <Learned of={timeline.learned} />
      <p class="fine">Days are those of {timeline.zone}. A session counts on each day it was spoken in.</p>
    </>
  );
}

const title = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** The names with the most, in the order of the alphabet, so that a colour stays with a name. */
function ranked(days: Day[], measure: Measure, label: (one: Day) => string): string[] {
  const all = new Map<string, number>();
  for (const one of days) all.set(label(one), (all.get(label(one)) ?? 0) + one[measure]);
  const most = [...all].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  return most.slice(0, most.length > MOST_NAMES ? MOST_NAMES - 1 : MOST_NAMES).sort();
}

function OneDay({ picked, count, measure, filters }: { picked: string; count: number; measure: Measure; filters: Chosen }) {
  const { agent, project } = filters;
  const asked = useAsked<{ sessions: SessionItem[] }>(JSON.stringify([picked, agent, project]), (signal) =>
    ask("sessions", { query: { agent, project, after: picked, before: picked, limit: 50 }, signal }),
  );
  return (
    <div class="panel" aria-live="polite">
      <h3>
        {long(nth(picked))}: {number(count)} {measure}
      </h3>
      <Answer of={asked}>{({ sessions }) => (sessions.length ? <SessionList sessions={sessions} /> : <p>No session.</p>)}</Answer>
    </div>
  );
}

function DayTable({ days, where }: { days: Day[]; where: Map<string, string> }) {
  return (
    <details class="aside">
      <summary>As a table</summary>
      <div class="scroll tall" tabIndex={0} role="region" aria-label="Days as a table">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Agent</th>
              <th scope="col">Project</th>
              <th scope="col" class="n">Sessions</th>
              <th scope="col" class="n">Turns</th>
              <th scope="col" class="n">Tokens</th>
            </tr>
          </thead>
          <tbody>
            {days
              .slice(-1000)
              .reverse()
              .map((one, n) => (
                <tr key={n}>
                  <th scope="row">{one.day}</th>
                  <td>{one.agent}</td>
                  <td>{one.project && where.get(one.project)}</td>
                  <td class="n">{number(one.sessions)}</td>
                  <td class="n">{number(one.turns)}</td>
                  <td class="n">{number(one.tokens)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {days.length > 1000 && <p class="fine">The last 1,000 rows.</p>}
    </details>
  );
}

function Projects({ days, measure, where }: { days: Day[]; measure: Measure; where: Map<string, string> }) {
  const all = new Map<string, { of: number; last: string }>();
  for (const one of days) {
    const name = one.project ?? "";
    const old = all.get(name) ?? { of: 0, last: "" };
    all.set(name, { of: old.of + one[measure], last: one.day > old.last ? one.day : old.last });
  }
  const rows = [...all].sort((a, b) => b[1].of - a[1].of).slice(0, 30);
  const most = Math.max(1, ...rows.map(([, one]) => one.of));
  return (
    <section aria-labelledby="projects">
      <h2 id="projects">Projects</h2>
      <table class="projects">
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col" class="n">
              {title(measure)}
            </th>
            <th scope="col" class="for-wide">
              <span class="for-readers">Share</span>
            </th>
            <th scope="col">Last</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, one]) => (
            <tr key={name}>
              <th scope="row">
                {name ? (
                  <a href={address("search", "", { project: name })} title={name}>
                    {where.get(name)}
                  </a>
                ) : (
                  "no project"
                )}
              </th>
              <td class="n">{number(one.of)}</td>
              <td class="for-wide">
                <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="tone-0" width={Math.max(0.5, (100 * one.of) / most)} height={8} />
                </svg>
              </td>
              <td>{day(`${one.last}T12:00:00`)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Learned({ of }: { of: Timeline["learned"] }) {
  return (
    <section aria-labelledby="learned">
      <h2 id="learned">What was learned when</h2>
      {!of.length && <p>No note is from this time.</p>}
      <ol class="list learned">
        {[...of].sort((a, b) => (a.time < b.time ? 1 : -1)).map((one) => (
          <li key={one.id} data-step tabIndex={-1}>
            <p class="statement">{one.statement}</p>
            <Facts of={[<Time of={one.time} form={day} />, <Tag>{one.kind}</Tag>, one.source && `from ${one.source}`]} />
          </li>
        ))}
      </ol>
      {of.length > 0 && <p class="fine">{counted(of.length, "note")}</p>}
    </section>
  );
}
