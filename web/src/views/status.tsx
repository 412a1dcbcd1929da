/** What is stored, what ranks, what lags and what went wrong. */

import type { ComponentChildren } from "preact";
import { ask, useAsked } from "../api";
import { Answer, Head, Nothing, Tag, Time } from "../parts/basic";
import type { AgentStatus, Lag, Me, Status, TokenItem } from "../types";
import { bytes, counted, number } from "../words";

export function StatusView({ me }: { me: Me }) {
  const asked = useAsked<Status>("status", (signal) => ask("status", { signal }));
  return (
    <>
      <Head title="Status">
        <button type="button" class="quiet" disabled={asked.waiting} onClick={asked.again}>
          {asked.waiting ? "Looking…" : "Look again"}
        </button>
      </Head>
      <Answer of={asked}>
        {(status) => (
          <>
            <Problems of={status.problems} bad={Object.values(status.agents).some((one) => Object.keys(one.failed_sources).length > 0)} />
            <div class="cards-grid">
              <Store status={status} />
              <Ranking status={status} />
              <Daemon of={status.daemon} />
              <Disk of={status.disk} />
              <Curated status={status} />
            </div>
            <Agents of={status.agents} />
            <Lags of={status.daemon?.lag ?? []} />
            <Unknown of={status.agents} />
          </>
        )}
      </Answer>
      {me.scopes.includes("admin") ? <Tokens /> : null}
    </>
  );
}

/** `bad`: something could not be read at all; else it is about what was passed over. */
function Problems({ of, bad }: { of: string[]; bad: boolean }) {
  if (!of.length) return <p class="remark good">No problem is known.</p>;
  return (
    <section class={bad ? "trouble" : "trouble warn"} aria-labelledby="problems">
      <h2 id="problems">{counted(of.length, "problem")}</h2>
      <ul>
        {of.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </section>
  );
}

function Card({ title, facts }: { title: string; facts: [string, ComponentChildren][] }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const Store = ({ status }: { status: Status }) => (
  <Card
    title="Stored"
    facts={[
      ["Sessions", number(status.sessions)],
      ["Turns", number(status.turns)],
      ["Chunks", number(status.chunks)],
      ["Version", status.version],
    ]}
  />
);

const Ranking = ({ status }: { status: Status }) => (
  <Card
    title="Search"
    facts={[
      ["Words", status.indexed ? "indexed" : <Tag kind="warn">the index lags</Tag>],
      ["Vectors", status.encoder ? `${number(status.embedded)} by ${status.encoder}` : "none: words only"],
      ["Backlog", status.backlog ? <Tag kind="warn">{counted(status.backlog, "chunk")}</Tag> : "empty"],
      ["Reranker", status.reranker ?? "none"],
    ]}
  />
);

function Daemon({ of }: { of: Status["daemon"] }) {
  if (!of) return null;
  return (
    <Card
      title="Daemon"
      facts={[
        ["State", of.running ? "runs" : <Tag kind="warn">does not run</Tag>],
        ...(of.since ? ([["Since", <Time of={of.since} />]] as [string, ComponentChildren][]) : []),
      ]}
    />
  );
}

/** How far the daemon is behind: an agent a row; its single sources folded. */
function Lags({ of }: { of: Lag[] }) {
  const sources = of.flatMap((one) => [
    ...Object.entries(one.failing).map(([path, why]) => ({ agent: one.agent, path, said: <Tag kind="warn">{why}</Tag> })),
    ...Object.entries(one.sources).reverse().map(([path, seconds]) => ({ agent: one.agent, path, said: <>{lagged(seconds)}</> })),
  ]);
  if (!of.length) return null;
  return (
    <section aria-labelledby="lag">
      <h2 id="lag">Lag of the daemon</h2>
      <p class="fine">From a change of a log to the end of reading it.</p>
      <div class="scroll" tabIndex={0} role="group" aria-labelledby="lag">
        <table>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col" class="n">Lag</th>
              <th scope="col" class="n">Waiting</th>
              <th scope="col" class="n">Cannot be read</th>
            </tr>
          </thead>
          <tbody>
            {of.map((one) => (
              <tr key={one.agent}>
                <th scope="row">{one.agent}</th>
                <td class="n">{one.lag_seconds === null ? "nothing changed yet" : lagged(one.lag_seconds)}</td>
                <td class="n">{one.waiting ? <Tag kind="warn">{counted(one.waiting, "source")}</Tag> : "none"}</td>
                <td class="n">{Object.keys(one.failing).length ? <Tag kind="warn">{counted(Object.keys(one.failing).length, "source")}</Tag> : "none"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sources.length > 0 && (
        <details class="aside">
          <summary>Single sources ({number(sources.length)})</summary>
          <div class="scroll tall" tabIndex={0} role="region" aria-label="Lag of single sources">
            <table>
              <thead>
                <tr>
                  <th scope="col">Source</th>
                  <th scope="col">Agent</th>
                  <th scope="col">Lag</th>
                </tr>
              </thead>
              <tbody>
                {sources.map(({ agent, path, said }) => (
                  <tr key={`${agent} ${path}`}>
                    <th scope="row" title={path}>
                      {path.split(/[/\\]/).slice(-2).join("/")}
                    </th>
                    <td>{agent}</td>
                    <td>{said}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
    </section>
  );
}

const lagged = (seconds: number): string => `${seconds.toFixed(1)} s`;

const DISK: Record<string, string> = { store_bytes: "Store", index_bytes: "Index", vectors_bytes: "Vectors", free_bytes: "Free" };

function Disk({ of }: { of: Status["disk"] }) {
  if (!of) return null;
  return <Card title="Disk" facts={Object.entries(of).map(([name, size]) => [DISK[name] ?? name, bytes(size)])} />;
}

function Curated({ status }: { status: Status }) {
  const counts = (of: Record<string, number>): [string, string][] => Object.entries(of).map(([name, n]) => [name, number(n)]);
  return (
    <Card
      title="Curated"
      facts={[
        ...counts(status.notes).map(([name, n]): [string, string] => [`Notes, ${name}`, n]),
        ...counts(status.candidates).map(([name, n]): [string, string] => [`Candidates, ${name}`, n]),
        ["Last sweep", status.last_sweep ? <Time of={status.last_sweep} /> : "never"],
        ["Calls of models", Object.entries(status.llm_calls).map(([name, n]) => `${name} ${n}`).join(", ")],
      ]}
    />
  );
}

function Agents({ of }: { of: Record<string, AgentStatus> }) {
  const agents = Object.entries(of);
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      {!agents.length && (
        <Nothing>
          <p>
            Nothing was read yet: <code>raw-rag-ingest</code>.
          </p>
        </Nothing>
      )}
      {agents.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-labelledby="sources">
          <table>
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col" class="n">Sources</th>
                <th scope="col" class="n">Gone</th>
                <th scope="col" class="n">Sessions</th>
                <th scope="col" class="n">Turns</th>
                <th scope="col">Last turn</th>
                <th scope="col">Last read</th>
              </tr>
            </thead>
            <tbody>
              {agents.map(([name, one]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="n">{number(one.sources)}</td>
                  <td class="n">{number(one.gone_sources)}</td>
                  <td class="n">{number(one.sessions)}</td>
                  <td class="n">{number(one.turns)}</td>
                  <td>
                    <Time of={one.last_turn} />
                  </td>
                  <td>
                    <Time of={one.last_read} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Unknown({ of }: { of: Record<string, AgentStatus> }) {
  const rows = Object.entries(of).flatMap(([agent, one]) => [
    ...Object.entries(one.unknown_records).map(([kind, n]) => [agent, `unknown: ${kind}`, number(n)]),
    ...Object.entries(one.skipped_records).map(([kind, n]) => [agent, `no record: ${kind}`, number(n)]),
    ...Object.entries(one.failed_sources).map(([path, why]) => [agent, path, why]),
  ]);
  return (
    <section aria-labelledby="unknown">
      <h2 id="unknown">Records that were not understood</h2>
      {rows.length ? (
        <div class="scroll" tabIndex={0} role="group" aria-labelledby="unknown">
          <table>
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col">What</th>
                <th scope="col">How many, or why</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([agent, what, why]) => (
                <tr key={`${agent} ${what}`}>
                  <th scope="row">{agent}</th>
                  <td>{what}</td>
                  <td>{why}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <p>None: every record was read.</p>
      )}
    </section>
  );
}

function Tokens() {
  const asked = useAsked<{ tokens: TokenItem[] }>("tokens", (signal) => ask("tokens", { signal }));
  return (
    <section aria-labelledby="tokens">
      <h2 id="tokens">Tokens</h2>
      <Answer of={asked}>
        {({ tokens }) => (
          <div class="scroll" tabIndex={0} role="group" aria-labelledby="tokens">
            <table>
              <thead>
                <tr>
                  <th scope="col">Label</th>
                  <th scope="col">State</th>
                  <th scope="col">Scopes</th>
                  <th scope="col">Spaces</th>
                  <th scope="col">Last used</th>
                  <th scope="col">Ends</th>
                  <th scope="col">Made</th>
                  <th scope="col">Begins with</th>
                </tr>
              </thead>
              <tbody>
                {tokens.map((one) => (
                  <tr key={one.prefix}>
                    <th scope="row">{one.label}</th>
                    <td>{one.live ? "live" : one.revoked ? "revoked" : "ended"}</td>
                    <td>{one.scopes.join(", ")}</td>
                    <td>{one.spaces.map((space) => (space === "*" ? "all" : space)).join(", ")}</td>
                    <td>{one.last_used ? <Time of={one.last_used} /> : "never"}</td>
                    <td>{one.expires ? <Time of={one.expires} /> : "never"}</td>
                    <td>
                      <Time of={one.created} />
                    </td>
                    <td>
                      <code>{one.prefix}…</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answer>
    </section>
  );
}
