/** Addresses: all behind the `#`, so that no name of a session is ever sent to a server's log. */

import { useLayoutEffect, useMemo, useState } from "preact/hooks";

export type Query = Record<string, string | number | null | undefined>;

export interface Route {
  view: string;
  id: string;
  query: URLSearchParams;
}

export function parsed(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", ...rest] = path.split("/");
  return { view: view || "search", id: decoded(rest.join("/")), query: new URLSearchParams(query) };
}

export function address(view: string, id = "", query: Query = {}): string {
  const said = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const tail = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString();
  const path = view === "search" && !tail ? "" : view;
  return `#/${path}${id ? `/${encodeURIComponent(id)}` : ""}${tail ? `?${tail}` : ""}`;
}

export function go(target: string): void {
  if (location.hash !== target) location.hash = target;
}

/** Another address in the place of this one: "back" passes over it. */
export function instead(target: string): void {
  history.replaceState(null, "", target);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [hash, set] = useState(location.hash);
  useLayoutEffect(() => {
    const changed = () => set(location.hash);
    addEventListener("hashchange", changed);
    changed(); // it may have changed since the first drawing, when nobody listened
    return () => removeEventListener("hashchange", changed);
  }, []);
  return useMemo(() => parsed(hash), [hash]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
