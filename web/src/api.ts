/** Asking the server. The token lives in this tab only; what is refused comes as one kind of error. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Query } from "./route";

const TOKEN = "raw-rag-token";
const SPACE = "raw-rag-space";

/** A refusal of the server, or no answer at all (status 0). */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
    /** Where a question was stored that found no answer. */
    readonly session: string | null = null,
  ) {
    super(message);
  }
}

export const held = {
  get token(): string {
    return sessionStorage.getItem(TOKEN) ?? "";
  },
  set token(value: string) {
    value ? sessionStorage.setItem(TOKEN, value) : sessionStorage.removeItem(TOKEN);
  },
  get space(): string {
    return sessionStorage.getItem(SPACE) ?? "";
  },
  set space(value: string) {
    value ? sessionStorage.setItem(SPACE, value) : sessionStorage.removeItem(SPACE);
  },
};

export interface Asking {
  method?: string;
  body?: unknown;
  query?: Query;
  signal?: AbortSignal;
  token?: string;
}

/** The answer itself, for those that are no JSON. Throws a `Refusal`. */
export async function response(path: string, asking: Asking = {}): Promise<Response> {
  const { method = "GET", body, query = {}, signal, token = held.token } = asking;
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const tail = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (held.space) headers["x-raw-rag-space"] = held.space;
  if (body !== undefined) headers["content-type"] = "application/json";
  let got: Response;
  try {
    got = await fetch(tail ? `${path}?${tail}` : path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refusal(0, "unreachable", "The server does not answer.", "Is `raw-rag web` or `raw-rag serve` still running?");
  }
  if (got.ok) return got;
  const refusal = await refused(got);
  if (got.status === 401 && token === held.token) dispatchEvent(new CustomEvent("raw-rag-locked", { detail: refusal }));
  throw refusal;
}

export async function ask<T>(path: string, asking: Asking = {}): Promise<T> {
  return (await response(path, asking)).json() as Promise<T>;
}

/** An object without what is not set: the server takes no empty filters. */
export function set(fields: Query): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string | number] => entry[1] !== null && entry[1] !== undefined && entry[1] !== ""),
  );
}

async function refused(got: Response): Promise<Refusal> {
  try {
    const said = (await got.json()) as Record<string, unknown>;
    return new Refusal(got.status, String(said["code"] ?? "error"), String(said["message"] ?? got.statusText), String(said["hint"] ?? ""), got.headers.get("x-session-id"));
  } catch {
    return new Refusal(got.status, "error", `The server answered ${got.status}.`, "");
  }
}

export interface Asked<T> {
  data: T | null;
  error: Refusal | null;
  /** An answer is on its way; `data` may still be the last one. */
  waiting: boolean;
  again: () => void;
  /** Put something in the place of the answer, after a change that is known. */
  put: (data: T) => void;
}

/** The answer to a question that changes with `key`; "" asks nothing. An answer that comes too late is dropped. */
export function useAsked<T>(key: string, question: (signal: AbortSignal) => Promise<T>): Asked<T> {
  const [state, set] = useState<{ key: string; data: T | null; error: Refusal | null; waiting: boolean }>({
    key: "", data: null, error: null, waiting: key !== "",
  });
  const [round, next] = useState(0);
  const asking = useRef(question);
  asking.current = question;
  useEffect(() => {
    if (!key) {
      set({ key, data: null, error: null, waiting: false });
      return;
    }
    const stop = new AbortController();
    set((old) => ({ ...old, error: null, waiting: true }));
    asking.current(stop.signal).then(
      (data) => !stop.signal.aborted && set({ key, data, error: null, waiting: false }),
      (error: unknown) => !stop.signal.aborted && set({ key, data: null, error: asRefusal(error), waiting: false }),
    );
    return () => stop.abort();
  }, [key, round]);
  const stale = state.key !== key;
  return {
    data: key ? state.data : null,
    error: state.error,
    waiting: key !== "" && (state.waiting || stale),
    again: () => next((n) => n + 1),
    put: (data) => set({ key, data, error: null, waiting: false }),
  };
}

export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  return new Refusal(0, "bug", error instanceof Error ? error.message : String(error), "This is a fault of the page: please report it.");
}

/** The values of a stream of server-sent events, each `data:` one JSON object. */
export async function* events(got: Response): AsyncGenerator<Record<string, unknown>> {
  const reader = got.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? "";
    const frames = rest.split(/\r?\n\r?\n/);
    rest = done ? "" : (frames.pop() ?? "");
    for (const frame of frames) {
      const data = frame.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) yield JSON.parse(data) as Record<string, unknown>;
    }
    if (done) return;
  }
}
