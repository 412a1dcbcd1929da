/** Plots: SVG, each one stop of the keyboard, where the arrows move and what is under them is said. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { long, month, named, number as day, ticks, weekday, type Bin } from "../calendar";
import { number, short, tone } from "../words";

export function useWidth<E extends Element>(): [RefObject<E | null>, number] {
  const box = useRef<E>(null);
  const [width, set] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver(([entry]) => set(Math.floor(entry!.contentRect.width)));
    seen.observe(box.current!);
    return () => seen.disconnect();
  }, []);
  return [box, width];
}

/** Arrow keys over places 0 … count-1; `down`: how many places a step down is. */
function arrows(event: KeyboardEvent, place: number, count: number, down: number, to: (n: number) => void, open: () => void): void {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -down, ArrowDown: down, PageUp: -28, PageDown: 28, Home: -count, End: count };
  const by = steps[event.key];
  if (event.key === "Enter") open();
  else if (by === undefined) return;
  else to(Math.min(count - 1, Math.max(0, place + by)));
  event.preventDefault();
  event.stopPropagation();
}

const WEEKS = 53;
/** Of the calendar: what the names of days and of months take. */
const NAMES = 32;
const OVER = 20;

interface HeatProps {
  /** Day -> how much. */
  values: Map<string, number>;
  what: string;
  chosen: string;
  choose: (day: string) => void;
}

/** The calendar of a year: a column a week, darker the more there was. */
export function HeatMap({ values, what, chosen, choose }: HeatProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const days = [...values.keys()].map(day);
  const today = day(new Date().toLocaleDateString("sv"));
  const past = days.filter((one) => one <= today + 1); // a log may say any day
  const spoken = Math.max(...(past.length ? past : days));
  const last = today > spoken && today - spoken < 7 * WEEKS ? today : spoken; // a year that is over is shown as it was
  const room = (width || 800) - NAMES;
  const cell = Math.min(18, Math.max(14, Math.floor(room / WEEKS)));
  const weeks = Math.max(4, Math.min(WEEKS, Math.floor(room / cell)));
  const end = last + 6 - weekday(last);
  const first = end - weeks * 7 + 1;
  const count = last - first + 1;
  const at = chosen && day(chosen) >= first ? day(chosen) - first : count - 1;
  const steps = levels([...values.values()]);
  const level = (n: number) => (n > 0 ? 1 + steps.filter((one) => n > one).length : 0);
  const value = (n: number) => values.get(named(first + n)) ?? 0;
  const said = (n: number) => `${long(first + n)}: ${number(value(n))} ${what}`;
  const to = (n: number) => choose(named(first + n));
  return (
    <div ref={box} class="plot">
      <svg
        viewBox={`0 0 ${weeks * cell + NAMES} ${7 * cell + OVER}`}
        width={weeks * cell + NAMES}
        height={7 * cell + OVER}
        tabindex={0}
        role="slider"
        aria-label={`Days, by ${what}; arrows move by a day and a week`}
        aria-valuemin={0}
        aria-valuemax={count - 1}
        aria-valuenow={at}
        aria-valuetext={said(at)}
        onKeyDown={(event) => {
          const turned: Record<string, string> = { ArrowLeft: "PageUp7", ArrowRight: "PageDown7" };
          if (turned[event.key]) {
            event.preventDefault();
            to(Math.min(count - 1, Math.max(0, at + (event.key === "ArrowLeft" ? -7 : 7))));
          } else arrows(event, at, count, 1, to, () => to(at));
        }}
      >
        {["Mon", "", "Wed", "", "Fri", "", "Sun"].map((name, n) => (
          <text key={n} class="axis" x={0} y={OVER + n * cell + 10}>
            {name}
          </text>
        ))}
        {Array.from({ length: weeks }, (_, week) => {
          const monday = first + week * 7;
          const begins = named(monday).slice(8) <= "07";
          return (
            begins && week < weeks - 1 && (
              <text key={week} class="axis" x={NAMES + week * cell} y={11}>
                {month(monday)}
              </text>
            )
          );
        })}
        {Array.from({ length: count }, (_, n) => (
          <rect
            key={n}
            class={`heat heat-${level(value(n))} ${chosen && n === at ? "chosen" : ""}`}
            x={NAMES + Math.floor(n / 7) * cell}
            y={OVER + (n % 7) * cell}
            width={cell - 3}
            height={cell - 3}
            rx={2}
            onClick={() => to(n)}
          >
            <title>{said(n)}</title>
          </rect>
        ))}
      </svg>
      <p class="scale fine" aria-hidden="true">
        less
        <svg width={5 * cell} height={cell}>
          {[0, 1, 2, 3, 4].map((n) => (
            <rect key={n} class={`heat heat-${n}`} x={n * cell} y={1} width={cell - 3} height={cell - 3} rx={2} />
          ))}
        </svg>
        more
      </p>
    </div>
  );
}

/** Three bounds that part what is there into four. */
function levels(values: number[]): number[] {
  const there = values.filter((n) => n > 0).sort((a, b) => a - b);
  return [0.25, 0.5, 0.8].map((share) => there[Math.floor(share * (there.length - 1))] ?? 0);
}

const HEIGHT = 220;
const LEFT = 44;
const BELOW = 26;

interface BarsProps {
  bins: Bin[];
  names: string[];
  what: string;
  label: string;
}

/** A bar a bin, stacked by name. */
export function Bars({ bins, names, what, label }: BarsProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [place, set] = useState(-1);
  const wide = Math.max(width || 640, 240);
  const axis = ticks(Math.max(...bins.map((one) => one.total), 0));
  const top = axis.at(-1)!;
  const y = (n: number) => 8 + (HEIGHT - BELOW - 8) * (1 - n / top);
  const step = (wide - LEFT) / bins.length;
  const at = place < 0 ? bins.length - 1 : Math.min(place, bins.length - 1);
  const said = (bin: Bin) =>
    `${bin.name}: ${number(bin.total)} ${what}${bin.parts.size > 1 ? ` (${[...bin.parts].map(([name, n]) => `${name} ${number(n)}`).join(", ")})` : ""}`;
  const every = Math.ceil(bins.length / Math.max(2, Math.floor((wide - LEFT) / 84)));
  return (
    <div ref={box} class="plot">
      <svg
        width={wide}
        height={HEIGHT}
        viewBox={`0 0 ${wide} ${HEIGHT}`}
        tabindex={0}
        role="slider"
        aria-label={`${label}; arrows move from bar to bar`}
        aria-valuemin={0}
        aria-valuemax={bins.length - 1}
        aria-valuenow={at}
        aria-valuetext={said(bins[at]!)}
        onKeyDown={(event) => arrows(event, at, bins.length, 1, set, () => set(at))}
      >
        {axis.map((n) => (
          <g key={n}>
            <line class="grid" x1={LEFT} x2={wide} y1={y(n)} y2={y(n)} />
            <text class="axis" x={LEFT - 8} y={y(n) + 4} text-anchor="end">
              {short(n)}
            </text>
          </g>
        ))}
        {bins.map((bin, n) => {
          let under = 0;
          return (
            <g key={n} onClick={() => set(n)} class={n === place ? "bar chosen" : "bar"}>
              <title>{said(bin)}</title>
              <rect class="hitbox" x={LEFT + n * step} y={0} width={step} height={HEIGHT - BELOW} />
              {names.map((name) => {
                const value = bin.parts.get(name) ?? 0;
                const from = y(under);
                under += value;
                return value > 0 && <rect key={name} class={tone(names, name)} x={LEFT + n * step + step * 0.12} width={Math.max(1, step * 0.76)} y={y(under)} height={Math.max(0.5, from - y(under))} />;
              })}
              {n % every === 0 && (
                <text class="axis" x={LEFT + n * step + step / 2} y={HEIGHT - 8} text-anchor={n === 0 && step < 60 ? "start" : (bins.length - n) * step < 60 ? "end" : "middle"}>
                  {bin.name.replace("Week of ", "")}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <p class="reading" aria-hidden="true">
        {said(bins[at]!)}
      </p>
    </div>
  );
}

/** A sum that grows. */
export function Growth({ bins, what, label }: { bins: Bin[]; what: string; label: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const wide = Math.max(width || 640, 240);
  let sum = 0;
  const sums = bins.map((one) => (sum += one.total));
  const axis = ticks(sum);
  const top = axis.at(-1)!;
  const y = (n: number) => 8 + (160 - BELOW - 8) * (1 - n / top);
  const x = (n: number) => LEFT + ((wide - LEFT - 4) * n) / Math.max(1, bins.length - 1);
  const line = sums.map((n, place) => `${x(place).toFixed(1)},${y(n).toFixed(1)}`).join(" ");
  return (
    <div ref={box} class="plot">
      <svg width={wide} height={160} viewBox={`0 0 ${wide} 160`} role="img" aria-label={`${label}: ${number(sum)} ${what} in all, from ${bins[0]?.name} to ${bins.at(-1)?.name}`}>
        {axis.map((n) => (
          <g key={n}>
            <line class="grid" x1={LEFT} x2={wide} y1={y(n)} y2={y(n)} />
            <text class="axis" x={LEFT - 8} y={y(n) + 4} text-anchor="end">
              {short(n)}
            </text>
          </g>
        ))}
        <polygon class="area" points={`${LEFT},${y(0)} ${line} ${x(bins.length - 1)},${y(0)}`} />
        <polyline class="line" points={line} />
        <text class="axis" x={LEFT} y={152}>
          {bins[0]?.name.replace("Week of ", "")}
        </text>
        <text class="axis" x={wide} y={152} text-anchor="end">
          {bins.at(-1)?.name.replace("Week of ", "")}
        </text>
      </svg>
    </div>
  );
}
