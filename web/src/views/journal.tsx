/** Who did what: every write, decision, denial and act of administration, newest first. */

import { useState } from "preact/hooks";
import { ask, asRefusal, useAsked, type Refusal } from "../api";
import { Answer, Facts, Field, Head, More, Nothing, Tag, Time, Trouble } from "../parts/basic";
import { address, go } from "../route";
import type { JournalEntry } from "../types";

interface Page {
  entries: JournalEntry[];
  next: string | null;
}
const PAGE = 100;
/** So many acts are looked through for what there is to choose from. */
const LATEST = 500;
/** A greater number is an instant, in milliseconds. */
const INSTANT = 1e12;

export function JournalView({ query }: { query: URLSearchParams }) {
  const action = query.get("action") ?? "";
  const [error, set] = useState<Refusal | null>(null);
  const asked = useAsked<Page>(`journal ${action}`, (signal) => ask("journal", { query: { limit: PAGE, action }, signal }));
  const more = async () => {
    const { data } = asked;
    if (!data) return;
    try {
      const got = await ask<Page>("journal", { query: { limit: PAGE, action, cursor: data.next } });
      asked.put({ entries: [...data.entries, ...got.entries], next: got.next });
    } catch (failed) {
      set(asRefusal(failed));
    }
  };
  const all = useAsked<Page>("journal actions", (signal) => ask("journal", { query: { limit: LATEST }, signal }));
  const actions = [...new Set([action, ...(all.data?.entries ?? []).map((one) => one.action)])].filter(Boolean).sort();
  return (
    <>
      <Head title="Journal" />
      <div class="bar">
        <Field label="Action">
          <select value={action} onChange={(event) => go(address("journal", "", { action: event.currentTarget.value }))}>
            <option value="">All actions</option>
            {actions.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
      </div>
      <Answer of={asked}>
        {({ entries, next }) => (
          <>
            {!entries.length && (
              <Nothing>
                <p>Nothing was written down{action && " of this kind"}.</p>
              </Nothing>
            )}
            <ol class="list">
              {entries.map((one) => (
                <li key={one.id} data-step tabIndex={-1}>
                  <p class="list-title">
                    <Tag>{one.action}</Tag> {one.target}
                  </p>
                  <Facts of={[`#${one.id}`, <Time of={one.time} />, one.actor, one.transport, one.source]} />
                  {details(one.detail).length > 0 && (
                    <dl class="detail">
                      {details(one.detail).map(([name, value]) => (
                        <div key={name}>
                          <dt>{name}</dt>
                          <dd>{typeof value === "number" && value > INSTANT ? <Time of={value} /> : said(value)}</dd>
                        </div>
                      ))}
                    </dl>
                  )}
                </li>
              ))}
            </ol>
            <More next={next} waiting={asked.waiting} ask={more} />
            {error && <Trouble error={error} />}
          </>
        )}
      </Answer>
    </>
  );
}

const details = (of: Record<string, unknown>): [string, unknown][] => Object.entries(of).filter(([, value]) => value !== null && value !== "");

const said = (value: unknown): string =>
  Array.isArray(value) && value.every((one) => typeof one !== "object") ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
