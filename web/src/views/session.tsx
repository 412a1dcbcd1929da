/** A session to be read from end to end, two hundred turns at a time. */

import { useEffect, useState } from "preact/hooks";
import { ask, asRefusal, response, useAsked, type Refusal } from "../api";
import { Copy, Facts, Field, Head, Tag, Time, Trouble, Waiting } from "../parts/basic";
import { useWide } from "../parts/filters";
import { Actions, Said } from "../parts/said";
import { address, go } from "../route";
import type { Reading, SessionItem, Tree, Turn } from "../types";
import { base, clock, counted, day, number, titled } from "../words";
import { Family } from "./family";

const PAGE = 200;

export function SessionView({ id, query }: { id: string; query: URLSearchParams }) {
  const wanted = Math.max(0, Math.floor(Number(query.get("turn")) || 0));
  const from = wanted ? Math.floor((wanted - 1) / PAGE) * PAGE + 1 : 1;
  const path = `sessions/${encodeURIComponent(id)}`;
  const asked = useAsked<Reading>(`${id} ${from}`, (signal) => ask(path, { query: { from, limit: PAGE }, signal }));
  const tree = useAsked<Tree>(id, (signal) => ask(`${path}/tree`, { signal }));
  const reading = asked.data;
  useEffect(() => {
    if (reading && wanted && !asked.waiting) show(wanted);
  }, [reading, wanted, asked.waiting]);
  if (asked.error) return <Trouble error={asked.error} again={asked.again} />;
  if (!reading) return <Waiting />;
  const { session, turns } = reading;
  return (
    <div class="sided session">
      <Head title={titled(session)}>
        <Facts
          of={[
            session.agent,
            session.project && <span title={session.project}>{base(session.project)}</span>,
            session.branch,
            <Time of={session.started} />,
            counted(session.turns, "turn"),
            session.source_gone && <Tag>log is gone</Tag>,
          ]}
        />
        <SessionActs session={session} path={path} />
      </Head>
      <aside class="side" aria-label="About this session">
        <Way turns={turns} session={session} path={path} />
        {tree.data && <Family tree={tree.data} here={session.session} />}
        {tree.error && <Trouble error={tree.error} again={tree.again} />}
      </aside>
      <div class={`column ${asked.waiting ? "stale" : ""}`}>
        <Pages session={session} reading={reading} from={from} />
        {turns.map((turn, n) => (
          <>
            {n === 0 || turns[n - 1]!.exchange !== turn.exchange ? (
              <Divider key={`e${turn.exchange} ${turn.turn}`} turn={turn} before={turns[n - 1]} />
            ) : null}
            <OneTurn key={turn.turn} turn={turn} session={session} current={turn.turn === wanted} first={turns[n - 1]?.exchange !== turn.exchange} />
          </>
        ))}
        {!turns.length && <p class="nothing">There is no turn to show.</p>}
        <Pages session={session} reading={reading} from={from} />
      </div>
    </div>
  );
}

function show(turn: number): void {
  const place = document.getElementById(`turn-${turn}`) ?? document.querySelector<HTMLElement>(`[data-turn="${turn}"]`);
  place?.scrollIntoView({ block: "start" });
  place?.focus({ preventScroll: true });
}

function SessionActs({ session, path }: { session: SessionItem; path: string }) {
  const [error, set] = useState<Refusal | null>(null);
  const save = async (form: string) => {
    set(null);
    try {
      await download(await response(`${path}/export`, { query: { form } }), `session.${form}`);
    } catch (failed) {
      set(asRefusal(failed));
    }
  };
  return (
    <>
      <div class="acts no-print">
        {session.resume && <Copy text={session.resume}>Copy resume command</Copy>}
        <Copy text={() => location.href}>Copy link</Copy>
        <span class="group" role="group" aria-label="Export">
          <span aria-hidden="true" class="fine">
            Export
          </span>
          {[
            ["md", "Markdown"],
            ["html", "HTML"],
            ["json", "JSON"],
          ].map(([form, said]) => (
            <button key={form} type="button" class="quiet" onClick={() => save(form!)}>
              {said}
            </button>
          ))}
        </span>
      </div>
      {error && <Trouble error={error} />}
    </>
  );
}

async function download(got: Response, fallback: string): Promise<void> {
  const named = /filename="([^"]+)"/.exec(got.headers.get("content-disposition") ?? "")?.[1];
  const url = URL.createObjectURL(await got.blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: named ?? fallback });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function OneTurn({ turn, session, current, first }: { turn: Turn; session: SessionItem; current: boolean; first: boolean }) {
  return (
    <article
      id={`turn-${turn.turn}`}
      class={`turn ${turn.role} ${turn.abandoned ? "abandoned" : ""} ${current ? "best" : ""}`}
      data-step
      data-exchange={first || undefined}
      tabIndex={-1}
      aria-label={`Turn ${turn.turn}, ${turn.role}`}
    >
      <p class="who">
        <strong>{turn.role}</strong>
        <a data-open class="permalink" href={address("session", session.session, { turn: turn.turn })}>
          {turn.turn}
          <span class="for-readers">, link to this turn</span>
        </a>
        <Time of={turn.time} form={clock} />
        {turn.abandoned && <Tag kind="warn">abandoned</Tag>}
        {turn.partial && <Tag kind="warn">broke off</Tag>}
        <span class="late">
          <Copy text={() => [turn.text, ...turn.actions].join("\n")} current>
            Copy
          </Copy>
        </span>
      </p>
      {turn.text && <Said text={turn.text} actions={turn.role !== "user"} />}
      <Actions lines={turn.actions} />
    </article>
  );
}

function Divider({ turn, before }: { turn: Turn; before: Turn | undefined }) {
  const today = day(turn.time);
  return (
    <div class="divider">
      <h2>
        Exchange {number(turn.exchange)}
        {today && today !== day(before?.time) && <span class="fine"> · {today}</span>}
      </h2>
    </div>
  );
}

function Pages({ session, reading, from }: { session: SessionItem; reading: Reading; from: number }) {
  const last = reading.turns.at(-1)?.turn ?? from;
  if (from === 1 && reading.next === null) return null;
  return (
    <nav class="pages no-print" aria-label="Pages of this session">
      {from > 1 ? <a href={address("session", session.session, { turn: Math.max(1, from - PAGE) })}>← Earlier</a> : <span />}
      <span>
        Turns {number(from)}–{number(last)} of {number(session.turns)}
      </span>
      {reading.next !== null ? <a href={address("session", session.session, { turn: from + PAGE })}>Later →</a> : <span />}
    </nav>
  );
}

/** The way through the session: the exchanges of this page by what was asked, and a jump to any. */
function Way({ turns, session, path }: { turns: Turn[]; session: SessionItem; path: string }) {
  const wide = useWide();
  const [error, set] = useState("");
  const firsts = turns.filter((turn, n) => turn.role === "user" && (n === 0 || turns[n - 1]!.exchange !== turn.exchange));
  const jump = async (event: SubmitEvent) => {
    event.preventDefault();
    const exchange = Number(new FormData(event.currentTarget as HTMLFormElement).get("exchange"));
    const turn = turns.find((one) => one.exchange === exchange)?.turn ?? (await search(path, session.turns, exchange).catch(() => 0));
    set(turn ? "" : `There is no exchange ${exchange}.`);
    if (turn) {
      go(address("session", session.session, { turn }));
      show(turn);
    }
  };
  return (
    <>
      <form class="jump" onSubmit={jump}>
        <Field label="Jump to exchange">
          <input type="number" name="exchange" min={1} inputMode="numeric" required />
        </Field>
        <button type="submit">Go</button>
      </form>
      <p role="status" class="fine">
        {error}
      </p>
      <details class="outline" open={wide}>
        <summary>Exchanges on this page ({firsts.length})</summary>
        <ol>
          {firsts.map((turn) => (
            <li key={turn.turn}>
              <a href={address("session", session.session, { turn: turn.turn })}>
                <span class="n">{turn.exchange}</span> {turn.text.trim().split("\n")[0]!.slice(0, 90)}
              </a>
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

/** The first turn of an exchange somewhere in the session: exchanges only grow, so some looks at single turns find it. */
async function search(path: string, turns: number, exchange: number): Promise<number> {
  let low = 1;
  let high = Math.max(turns, 1) * 2; // numbers of forgotten turns are not given again
  let found = 0;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const { turns: some } = await ask<Reading>(path, { query: { from: middle, limit: 1 } });
    const one = some[0];
    if (one && one.exchange < exchange) low = one.turn + 1;
    else {
      if (one?.exchange === exchange) found = one.turn;
      high = middle - 1;
    }
  }
  return found;
}
