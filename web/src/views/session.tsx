/** A session to be read from end to end, by pages of two hundred numbers of turns. What is forgotten leaves its numbers empty: a page may
 * hold fewer turns, or none. */

import { useEffect, useState } from "preact/hooks";
import { ask, asRefusal, response, useAsked, type Refusal } from "../api";
import { Copy, Facts, Field, Head, Tag, Time, Trouble, Waiting } from "../parts/basic";
import { useWide } from "../parts/filters";
import { Actions, Said } from "../parts/said";
import { address, go } from "../route";
import type { Me, Reading, SessionItem, Tree, Turn } from "../types";
import { base, clock, counted, day, number, titled } from "../words";
import { Family } from "./family";

const PAGE = 200;

export function SessionView({ id, query, me }: { id: string; query: URLSearchParams; me: Me }) {
  const wanted = Math.max(0, Math.floor(Number(query.get("turn")) || 0));
  const from = wanted ? start(wanted) : 1;
  const path = `sessions/${encodeURIComponent(id)}`;
  const asked = useAsked<{ session: SessionItem; page: Page }>(`${id} ${from}`, async (signal) => {
    const reading = await ask<Reading>(path, { query: { from, limit: PAGE }, signal });
    return { session: reading.session, page: paged(reading, from, wanted > 0) };
  });
  const tree = useAsked<Tree>(id, (signal) => ask(`${path}/tree`, { signal }));
  const reading = asked.data;
  useEffect(() => {
    if (reading && wanted && !asked.waiting) show(wanted);
  }, [reading, wanted, asked.waiting]);
  if (asked.error)
    return (
      <>
        <Head title="Session" />
        <Trouble error={asked.error} again={asked.again} />
      </>
    );
  if (!reading) return <Waiting />;
  const { session, page } = reading;
  const { turns } = page;
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
        <SessionActs session={session} path={path} forgets={me.scopes.includes("admin")} />
      </Head>
      <aside class="side" aria-label="About this session">
        <Way turns={turns} session={session} path={path} />
        {tree.data && <Family tree={tree.data} here={session.session} />}
        {tree.error && <Trouble error={tree.error} again={tree.again} />}
      </aside>
      <div class={`column ${asked.waiting ? "stale" : ""}`}>
        <Pages session={session} page={page} />
        {turns.map((turn, n) => (
          <>
            {n === 0 || turns[n - 1]!.exchange !== turn.exchange ? (
              <Divider key={`e${turn.exchange} ${turn.turn}`} turn={turn} before={turns[n - 1]} />
            ) : null}
            <OneTurn key={turn.turn} turn={turn} session={session} current={turn.turn === wanted} first={turns[n - 1]?.exchange !== turn.exchange} />
          </>
        ))}
        {!turns.length && <p class="nothing">{session.turns ? "The turns of this page are forgotten." : "There is no turn to show."}</p>}
        <Pages session={session} page={page} below />
      </div>
    </div>
  );
}

function show(turn: number): void {
  const place = document.getElementById(`turn-${turn}`) ?? document.querySelector<HTMLElement>(`[data-turn="${turn}"]`);
  place?.scrollIntoView({ block: "start" });
  place?.focus({ preventScroll: true });
}

function SessionActs({ session, path, forgets }: { session: SessionItem; path: string; forgets: boolean }) {
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
        {forgets && (
          <a class="button quiet" href={address("forget", "", { session: session.session })}>
            Forget…
          </a>
        )}
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
          <Copy text={() => [...(turn.text ? [turn.text] : []), ...turn.actions].join("\n")} current>
            Copy
          </Copy>
        </span>
      </p>
      {turn.text && <Said text={turn.text} />}
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

interface Page {
  from: number;
  turns: Turn[];
  next: number | null;
}

/** The number that the page of a turn begins with. */
const start = (turn: number): number => Math.floor((turn - 1) / PAGE) * PAGE + 1;

/** What came, cut to one page: where a turn was asked for, its own; else the first that holds anything. */
function paged({ turns, next }: Reading, from: number, strict: boolean): Page {
  const first = strict || !turns.length ? from : start(turns[0]!.turn);
  const beyond = turns.findIndex((one) => one.turn >= first + PAGE);
  return beyond < 0 ? { from: first, turns, next } : { from: first, turns: turns.slice(0, beyond), next: turns[beyond]!.turn };
}

function Pages({ session, page, below = false }: { session: SessionItem; page: Page; below?: boolean }) {
  const { from, turns, next } = page;
  if (from === 1 && next === null) return null;
  return (
    <nav class="pages no-print" aria-label={below ? "Pages of this session, again" : "Pages of this session"}>
      {from > 1 ? <a href={address("session", session.session, { turn: from - PAGE })}>← Earlier</a> : <span />}
      <span>
        {turns.length > 0 && `Turns ${number(turns[0]!.turn)}–${number(turns.at(-1)!.turn)} · ${number(session.turns)} in all`}
      </span>
      {next !== null ? <a href={address("session", session.session, { turn: next })}>Later →</a> : <span />}
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
    set("");
    let turn = 0;
    try {
      turn = turns.find((one) => one.exchange === exchange)?.turn ?? (await search(path, exchange));
      if (!turn) set(`There is no exchange ${exchange}.`);
    } catch (failed) {
      set(asRefusal(failed).message);
    }
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

/** The first turn of an exchange somewhere in the session: exchanges only grow, so some looks at single turns find it. Numbers of
 * forgotten turns are not given again, so no count says where the last one is: a stride that doubles finds an end. */
async function search(path: string, exchange: number): Promise<number> {
  const at = async (from: number) => (await ask<Reading>(path, { query: { from, limit: 1 } })).turns[0];
  let low = 1;
  let high = PAGE;
  for (let one = await at(high); one && one.exchange < exchange; one = await at(high)) {
    low = one.turn + 1;
    high = one.turn * 2;
  }
  let found = 0;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const one = await at(middle);
    if (one && one.exchange < exchange) low = one.turn + 1;
    else {
      if (one?.exchange === exchange) found = one.turn;
      high = middle - 1;
    }
  }
  return found;
}
