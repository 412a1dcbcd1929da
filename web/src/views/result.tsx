/** One passage: whole turns around what matched, and the ways on from it. */

import { useState } from "preact/hooks";
import { ask, useAsked } from "../api";
import { Answer, Copy, Facts, Tag, Time } from "../parts/basic";
import { Actions, Said } from "../parts/said";
import { address } from "../route";
import type { Found, Part, Passage } from "../types";
import { base, titled } from "../words";

const MOST_ALSO = 5;
const NEAR = 3;

export function Result({ passage, find, question }: { passage: Passage; find: RegExp | null; question: Record<string, unknown> }) {
  const here = address("session", passage.session, { turn: passage.turn });
  const [shown, show] = useState(false);
  const all = passage.parts;
  const near = around(all, passage.turn);
  const [whole, widen] = useState(false);
  return (
    <article class="result" data-step tabIndex={-1} aria-label={titled(passage)}>
      <header>
        <h2>
          <a data-open href={here}>
            {titled(passage)}
          </a>
        </h2>
        <Facts
          of={[
            <span title="Place among the passages, the best first">#{passage.rank}</span>,
            passage.agent,
            passage.project && <span title={passage.project}>{base(passage.project)}</span>,
            passage.branch && <span title="Branch">{passage.branch}</span>,
            <Time of={passage.time} />,
            passage.first_turn === passage.last_turn ? `turn ${passage.turn}` : `turns ${passage.first_turn}–${passage.last_turn}`,
            passage.abandoned && <Tag kind="warn">abandoned</Tag>,
            passage.source_gone && <Tag>log is gone</Tag>,
          ]}
        />
      </header>
      <div class="turns">
        {(whole ? all : near).map((part) => (
          <div key={part.turn} class={`turn ${part.role} ${part.turn === passage.turn ? "best" : ""}`}>
            <p class="who">
              <a href={address("session", passage.session, { turn: part.turn })} title={`Turn ${part.turn}`}>
                {part.role}
              </a>
              {part.abandoned && <Tag kind="warn">abandoned</Tag>}
            </p>
            {part.text && <Said text={part.text} find={find} cut={part.truncated} size={part.turn === passage.turn ? "middle" : "short"} />}
            <Actions lines={part.actions} find={find} />
            {part.truncated && <p class="fine">Cut here: the whole turn is in the session.</p>}
          </div>
        ))}
        {all.length > near.length && (
          <button type="button" class="unfold" aria-expanded={whole} onClick={() => widen(!whole)}>
            {whole ? "Show fewer turns" : `Show all ${all.length} turns`}
          </button>
        )}
      </div>
      <footer class="acts">
        <a class="button" href={here}>
          Open session here
        </a>
        <Copy text={passage.text} current>
          Copy
        </Copy>
        {passage.resume && <Copy text={passage.resume}>Copy resume command</Copy>}
        <button type="button" class="quiet" aria-expanded={shown} onClick={() => show(!shown)}>
          Scores
        </button>
      </footer>
      {shown && <Stages passage={passage} question={question} />}
      {(passage.also?.length ?? 0) > 0 && (
        <p class="fine">
          Said the same in{" "}
          {passage.also!.slice(0, MOST_ALSO).map((one, n) => (
            <>
              {n > 0 && ", "}
              <a key={n} href={address("session", one.session, { turn: one.first_turn })}>
                <Time of={one.time} />
                {!one.time && one.session}
              </a>
            </>
          ))}
          {passage.also!.length > MOST_ALSO && ` and ${passage.also!.length - MOST_ALSO} more`}
        </p>
      )}
    </article>
  );
}

/** Stage by stage: asked again, with what each stage said of it. */
function Stages({ passage, question }: { passage: Passage; question: Record<string, unknown> }) {
  const asked = useAsked<Found>(JSON.stringify(question), (signal) =>
    ask("passages", { method: "POST", body: { ...question, explain: true }, signal }),
  );
  return (
    <div class="stages">
      <Answer of={asked} what="Asking again, stage by stage">
        {(found) => {
          const same = found.passages.find((one) => one.session === passage.session && one.turn === passage.turn);
          const rows = same?.explain?.length ? same.explain : summary(same ?? passage);
          return (
            <table>
              <caption>
                Ranked by {passage.ranked_by}, {passage.tokens} tokens
              </caption>
              <thead>
                <tr>
                  <th scope="col">Stage</th>
                  <th scope="col" class="n">
                    Place
                  </th>
                  <th scope="col" class="n">
                    Score
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr key={row.stage}>
                    <th scope="row">{row.stage}</th>
                    <td class="n">{row.rank || "–"}</td>
                    <td class="n">{row.score.toFixed(4)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Answer>
    </div>
  );
}

function summary(passage: Passage): { stage: string; rank: number; score: number }[] {
  return Object.entries(passage.scores).flatMap(([stage, score]) => (score === null ? [] : [{ stage, rank: 0, score: score as number }]));
}

/** The turn that matches best, and the ones next to it. */
function around(all: Part[], turn: number): Part[] {
  const place = Math.max(0, all.findIndex((one) => one.turn === turn));
  const first = Math.max(0, Math.min(place - 1, all.length - NEAR));
  return all.length <= NEAR + 1 ? all : all.slice(first, first + NEAR);
}
