/** A text that somebody said, as elements: code in blocks, thoughts folded, words of the query marked. */

import { useMemo, useState } from "preact/hooks";
import { blocks, head, hits, runs, type Block } from "../text";
import { counted } from "../words";

/** Lines and letters that are shown at once. */
const LIMITS: Record<"long" | "middle" | "short", [number, number]> = { long: [28, 3600], middle: [12, 1100], short: [3, 260] };

interface Props {
  text: string;
  find?: RegExp | null;
  /** The text is a part of what was said. */
  cut?: boolean;
  /** Nothing is folded. */
  whole?: boolean;
  size?: keyof typeof LIMITS;
}

export function Said({ text, find = null, cut = false, whole = false, size = "long" }: Props) {
  const [open, set] = useState(whole);
  const shown = useMemo(() => (open ? { text, more: 0 } : head(text, ...LIMITS[size])), [text, open, size]);
  const made = useMemo(() => blocks(shown.text, cut || shown.more > 0), [shown, cut]);
  return (
    <div class="said">
      {made.map((block, n) => (
        <One key={n} block={block} find={find} />
      ))}
      {(shown.more > 0 || (open && !whole)) && (
        <button type="button" class="unfold" aria-expanded={open} onClick={() => set(!open)}>
          {open ? "Show less" : text.includes("\n") ? `Show all (${counted(shown.more, "more line")})` : "Show all"}
        </button>
      )}
    </div>
  );
}

function One({ block, find }: { block: Block; find: RegExp | null }) {
  switch (block.kind) {
    case "words":
      return (
        <p>
          <Words text={block.text} find={find} />
        </p>
      );
    case "code":
      return <Code text={block.text} find={find} label={block.language ? `Code, ${block.language}` : "Code"} />;
    case "thinking":
      return (
        <details class="aside" open={has(block.text, find)}>
          <summary>Thinking</summary>
          <p>
            <Words text={block.text} find={find} />
          </p>
        </details>
      );
  }
}

/** What was done after the words, as the server tells it apart: an entry an action, with the end of its output. Folded, unless
 * something in it was looked for. */
export function Actions({ lines, find = null }: { lines: string[]; find?: RegExp | null }) {
  if (!lines.length) return null;
  const text = lines.join("\n");
  return (
    <details class="aside" open={has(text, find)}>
      <summary>
        {counted(lines.length, "action")}
        <span class="glimpse"> {lines[0]!.split("\n")[0]}</span>
      </summary>
      <Code text={text} find={find} label="Actions" />
    </details>
  );
}

export function Code({ text, find = null, label }: { text: string; find?: RegExp | null; label: string }) {
  // It may scroll, so it can be reached with the keyboard.
  return (
    <pre tabIndex={0} role="group" aria-label={label}>
      <code>
        <Hits text={text} find={find} />
      </code>
    </pre>
  );
}

export function Words({ text, find = null }: { text: string; find?: RegExp | null }) {
  return (
    <>
      {runs(text, find).map((run, n) => {
        const said = run.hit ? <mark key={n}>{run.text}</mark> : run.text;
        return run.code ? <code key={n}>{said}</code> : said;
      })}
    </>
  );
}

export function Hits({ text, find }: { text: string; find: RegExp | null }) {
  return <>{hits(text, find).map((run, n) => (run.hit ? <mark key={n}>{run.text}</mark> : run.text))}</>;
}

function has(text: string, find: RegExp | null): boolean {
  return find !== null && text.search(find) >= 0;
}
