/** Small things that every view is made of. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Asked, Refusal } from "../api";
import { copied, minute } from "../words";

export function Trouble({ error, again }: { error: Refusal; again?: () => void }) {
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      {error.hint && (
        <p>
          <Hint text={error.hint} />
        </p>
      )}
      <p class="fine">
        {error.code}
        {error.status > 0 && ` · ${error.status}`}
      </p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** What to do, with its commands between backticks. */
function Hint({ text }: { text: string }) {
  return <>{text.split(/`([^`\n]+)`/).map((piece, n) => (n % 2 ? <code key={n}>{piece}</code> : piece))}</>;
}

export function Waiting({ what = "Loading" }: { what?: string }) {
  return (
    <p class="waiting" role="status">
      {what}…
    </p>
  );
}

export function Nothing({ children }: { children: ComponentChildren }) {
  return <div class="nothing">{children}</div>;
}

/** What a question gave: its trouble, its waiting, or what is made of its answer. */
export function Answer<T>({ of, children, what }: { of: Asked<T>; children: (data: T) => ComponentChildren; what?: string }) {
  if (of.error) return <Trouble error={of.error} again={of.again} />;
  if (of.data === null) return of.waiting ? <Waiting what={what} /> : null;
  return <div class={of.waiting ? "stale" : undefined}>{children(of.data)}</div>;
}

export function Time({ of, form = minute }: { of: string | number | null | undefined; form?: (time: string | number) => string }) {
  if (of === null || of === undefined) return null;
  const said = form(of);
  const instant = new Date(of);
  if (!said || Number.isNaN(instant.getTime())) return null;
  return (
    <time dateTime={instant.toISOString()} title={instant.toISOString()}>
      {said}
    </time>
  );
}

/** A row of facts with dots between them; what is empty is left out. */
export function Facts({ of }: { of: ComponentChildren[] }) {
  const said = of.filter((one) => one !== null && one !== undefined && one !== "" && one !== false);
  return (
    <ul class="facts">
      {said.map((one, n) => (
        <li key={n}>{one}</li>
      ))}
    </ul>
  );
}

export function Copy({ text, children, current = false }: { text: string | (() => string); children: ComponentChildren; current?: boolean }) {
  const [done, set] = useState<"" | "yes" | "no">("");
  useEffect(() => {
    if (!done) return;
    const back = setTimeout(() => set(""), 2000);
    return () => clearTimeout(back);
  }, [done]);
  const press = async () => set((await copied(typeof text === "string" ? text : text())) ? "yes" : "no");
  return (
    <button type="button" class="quiet" data-copy={current || undefined} onClick={press}>
      <span aria-live="polite">{done === "yes" ? "Copied" : done === "no" ? "Could not copy" : children}</span>
    </button>
  );
}

export function Tag({ children, kind = "" }: { children: ComponentChildren; kind?: string }) {
  return <span class={`tag ${kind}`}>{children}</span>;
}

/** The heading of a view. It takes the focus when the view is entered, so that a screen reader says where one is. */
/** `hidden`: the view is plain without it, and it is for screen readers only. */
export function Head({ title, children, hidden = false }: { title: string; children?: ComponentChildren; hidden?: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · raw-rag`;
  }, [title]);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement?.closest("nav")) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <header class={hidden ? "for-readers" : "head"}>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </header>
  );
}

export function Field({ label, children, hint }: { label: string; children: ComponentChildren; hint?: string }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <span class="fine">{hint}</span>}
    </label>
  );
}

/** Lists that come in pages: the next one on demand. */
export function More({ next, waiting, ask }: { next: unknown; waiting: boolean; ask: () => void }) {
  if (!next) return null;
  return (
    <p class="more">
      <button type="button" disabled={waiting} onClick={ask}>
        {waiting ? "Loading…" : "Show more"}
      </button>
    </p>
  );
}
