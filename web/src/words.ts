/** How things are said: instants, sizes, names. */

const DAY = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const MINUTE = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const NUMBER = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

const shown = (format: Intl.DateTimeFormat) => (time: string | number | null | undefined): string => {
  const instant = time === null || time === undefined ? NaN : new Date(time).getTime();
  return Number.isNaN(instant) ? "" : format.format(instant);
};
export const day = shown(DAY);
export const minute = shown(MINUTE);
export const clock = shown(CLOCK);
export const number = (n: number): string => NUMBER.format(n);
export const short = (n: number): string => SHORT.format(n);

export const counted = (n: number, one: string, many = `${one}s`): string => `${number(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let place = 0;
  for (; n >= 1000 && place < units.length - 1; place++) n /= 1000;
  return `${place && n < 10 ? n.toFixed(1) : Math.round(n)} ${units[place]}`;
}

/** The last part of a path: what people call a project. */
export const base = (path: string | null): string => path?.split(/[/\\]/).filter(Boolean).at(-1) ?? "";

/** Projects by as little of the ends of their paths as tells them apart. */
export function apart(paths: readonly string[]): Map<string, string> {
  const parts = [...new Set(paths)].map((path) => [path, path.split(/[/\\]/).filter(Boolean)] as const);
  const tail = (all: readonly string[], n: number) => all.slice(-n).join("/");
  return new Map(
    parts.map(([path, all]) => {
      let n = 1;
      while (n < all.length && parts.some(([other, those]) => other !== path && tail(those, n) === tail(all, n))) n++;
      return [path, tail(all, n) || path];
    }),
  );
}

/** A session without a title by its id, without what no eye reads of it. */
export const titled = (session: { title: string | null; session: string }): string =>
  session.title || (session.session.split(/[:/]/).at(-1) || session.session).replace(/([0-9a-f]{8})-?[0-9a-f]{4}-?[0-9a-f-]{12,23}/, "$1…");

/** A colour of the chart for each name, in the order of the names, so that it is the same everywhere. */
export const tone = (names: string[], name: string): string => `tone-${Math.max(0, names.indexOf(name)) % 8}`;

export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
