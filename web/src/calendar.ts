/** Days as `YYYY-MM-DD`, counted without a zone: the server has said in which zone they are. */

import type { Day } from "./types";

export type Measure = "sessions" | "turns" | "tokens";
export const MEASURES: Measure[] = ["sessions", "turns", "tokens"];
const DAY_MS = 86_400_000;

export const number = (day: string): number => Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
export const named = (n: number): string => new Date(n * DAY_MS).toISOString().slice(0, 10);
/** Monday is 0. */
export const weekday = (n: number): number => (((n + 3) % 7) + 7) % 7;

const LONG = new Intl.DateTimeFormat(undefined, { weekday: "short", year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });
const MONTH = new Intl.DateTimeFormat(undefined, { month: "short", timeZone: "UTC" });
const MONTH_YEAR = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" });
const SHORT = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
const at = (n: number) => new Date(n * DAY_MS);
export const long = (n: number): string => LONG.format(at(n));
export const month = (n: number): string => MONTH.format(at(n));

/** What there was of a measure: by day, and by name in the order of names. */
export function sums(days: Day[], measure: Measure, key: (day: Day) => string = () => ""): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  for (const one of days) {
    const of = found.get(one.day) ?? new Map<string, number>();
    found.set(one.day, of.set(key(one), (of.get(key(one)) ?? 0) + one[measure]));
  }
  return found;
}

export interface Bin {
  name: string;
  first: string;
  last: string;
  parts: Map<string, number>;
  total: number;
}

/** Thirty years. Where a log says that it is of the year 9999, what lies between is left out. */
const MOST = 11_000;

/** Days, weeks or months, whichever gives some dozens of bars. Those without anything are there too. */
export function bins(by: Map<string, Map<string, number>>): Bin[] {
  const days = [...by.keys()].sort();
  if (!days.length) return [];
  const first = number(days[0]!);
  const last = number(days.at(-1)!);
  const span = last - first + 1;
  const start = span <= 62 ? (n: number) => n : span <= 430 ? (n: number) => n - weekday(n) : (n: number) => number(`${named(n).slice(0, 7)}-01`);
  const said = span <= 62 ? (n: number) => SHORT.format(at(n)) : span <= 430 ? (n: number) => `Week of ${SHORT.format(at(n))}` : (n: number) => MONTH_YEAR.format(at(n));
  const found = new Map<number, Bin>();
  const walked = span > MOST ? days.map(number) : Array.from({ length: span }, (_, n) => first + n);
  for (const n of walked) {
    const bin = found.get(start(n)) ?? { name: said(start(n)), first: named(n), last: named(n), parts: new Map(), total: 0 };
    found.set(start(n), bin);
    bin.last = named(n);
    for (const [name, value] of by.get(named(n)) ?? []) {
      bin.parts.set(name, (bin.parts.get(name) ?? 0) + value);
      bin.total += value;
    }
  }
  return [...found.values()];
}

/** Round steps of an axis from 0 to at least `top`. */
export function ticks(top: number, count = 4): number[] {
  if (top <= 0) return [0, 1];
  const rough = top / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough && (n >= 1 ? n % 1 === 0 : false)) ?? 10 * power);
  return Array.from({ length: Math.ceil(top / step) + 1 }, (_, n) => n * step);
}
