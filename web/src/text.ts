/** What was said -> blocks and runs, to be built as elements. Nothing here makes markup: a text stays a text. */

export type Block =
  | { kind: "words"; text: string }
  | { kind: "code"; text: string; language: string }
  | { kind: "thinking"; text: string };

export interface Run {
  text: string;
  code: boolean;
  hit: boolean;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;

/** `cut`: more was said than is in the text, so that a thought may have lost its end. */
export function blocks(text: string, cut = false): Block[] {
  const found: Block[] = [];
  let words: string[] = [];
  const flush = () => {
    const said = words.join("\n").replace(/^\n+|\s+$/g, "");
    if (said) found.push({ kind: "words", text: said });
    words = [];
  };
  const lines = text.split("\n");
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n]!;
    const fence = FENCE.exec(line);
    if (fence) {
      flush();
      const inside: string[] = [];
      const end = new RegExp(`^ {0,3}${fence[1]![0]}{${fence[1]!.length},}\\s*$`);
      for (n++; n < lines.length && !end.test(lines[n]!); n++) inside.push(lines[n]!);
      found.push({ kind: "code", text: inside.join("\n"), language: fence[2] ?? "" });
    } else if (line.trim() === "<thinking>" && (cut || lines.indexOf("</thinking>", n) > 0)) {
      flush();
      const closed = lines.indexOf("</thinking>", n);
      const end = closed > 0 ? closed : lines.length;
      found.push({ kind: "thinking", text: lines.slice(n + 1, end).join("\n") });
      n = end;
    } else words.push(line);
  }
  flush();
  return found;
}

/** Words of the query in a text; null: nothing to look for. A word is found at the start of a word, up to its end. */
export function finder(terms: readonly string[]): RegExp | null {
  const said = [...new Set(terms.map((term) => term.trim().toLowerCase()).filter((term) => term.length > 1 || /[^\x00-\x7f]/.test(term)))];
  if (!said.length) return null;
  const forms = said
    .sort((a, b) => b.length - a.length)
    .slice(0, 64)
    .map((term) => {
      const plain = term.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
      return /^[a-z0-9]/.test(term) ? `(?<![\\p{L}\\p{N}])${plain}${term.length > 3 && /[a-z]$/.test(term) ? "[\\p{L}]{0,4}(?![\\p{L}])" : ""}` : plain;
    });
  return new RegExp(forms.join("|"), "giu");
}

export function runs(text: string, find: RegExp | null): Run[] {
  return text.split(/(`[^`\n]+`)/).flatMap((piece) => {
    const code = piece.length > 2 && piece.startsWith("`") && piece.endsWith("`");
    return hits(code ? piece.slice(1, -1) : piece, find).map((run) => ({ ...run, code }));
  });
}

export function hits(text: string, find: RegExp | null): { text: string; hit: boolean }[] {
  if (!text) return [];
  if (!find) return [{ text, hit: false }];
  const found: { text: string; hit: boolean }[] = [];
  let last = 0;
  for (const match of text.matchAll(find)) {
    if (match.index > last) found.push({ text: text.slice(last, match.index), hit: false });
    if (match[0]) found.push({ text: match[0], hit: true });
    last = match.index + match[0].length;
  }
  if (last < text.length) found.push({ text: text.slice(last), hit: false });
  return found;
}

/** The head of a long text, and how many lines it leaves out. Cut at a line, or in the middle of a very long one. */
export function head(text: string, lines: number, letters: number): { text: string; more: number } {
  const all = text.split("\n");
  if (all.length <= lines + 4 && text.length <= letters * 1.2) return { text, more: 0 };
  let kept = 0;
  let used = 0;
  while (kept < Math.min(lines, all.length) && used + all[kept]!.length <= letters) used += all[kept++]!.length + 1;
  const cut = kept ? all.slice(0, kept).join("\n") : all[0]!.slice(0, letters);
  return { text: cut, more: Math.max(1, all.length - kept) };
}
