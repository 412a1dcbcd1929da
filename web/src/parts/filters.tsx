/** The filters of search, timeline and forgetting: chosen here, kept in the address. */

import { useEffect, useState } from "preact/hooks";
import { ask, useAsked } from "../api";
import type { Filters } from "../types";
import { apart } from "../words";
import { Field } from "./basic";

export const FILTERS = ["agent", "project", "after", "before", "branch", "role"] as const;
export type Filter = (typeof FILTERS)[number];
export type Chosen = Partial<Record<Filter, string>>;

export function chosen(query: URLSearchParams): Chosen {
  return Object.fromEntries(FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name)!]] : [])));
}

const NONE: Filters = { agents: [], projects: [], branches: [], roles: [] };

export function FilterFields({ of, set, which = FILTERS }: { of: Chosen; set: (next: Chosen) => void; which?: readonly Filter[] }) {
  const there = useAsked<Filters>("filters", (signal) => ask("filters", { signal })).data ?? NONE;
  const change = (name: Filter) => (event: { currentTarget: { value: string } }) => set({ ...of, [name]: event.currentTarget.value || undefined });
  const pick = (name: Filter, label: string, every: string, options: [string, string][]) =>
    which.includes(name) && (
      <Field label={label}>
        <select name={name} value={of[name] ?? ""} onChange={change(name)}>
          <option value="">{every}</option>
          {of[name] && !options.some(([value]) => value === of[name]) && <option value={of[name]}>{of[name]}</option>}
          {options.map(([value, said]) => (
            <option key={value} value={value}>
              {said}
            </option>
          ))}
        </select>
      </Field>
    );
  const date = (name: "after" | "before", label: string) =>
    which.includes(name) && (
      <Field label={label}>
        <input type="date" name={name} value={of[name] ?? ""} onChange={change(name)} />
      </Field>
    );
  return (
    <>
      {pick("agent", "Agent", "All agents", there.agents.map((one) => [one.agent, `${one.agent} (${one.sessions})`]))}
      {pick("project", "Project", "All projects", named(there.projects))}
      {pick("branch", "Branch", "All branches", there.branches.map((one) => [one, one]))}
      {pick("role", "Who spoke", "Anybody", there.roles.map((one) => [one, one]))}
      {date("after", "From")}
      {date("before", "Until")}
    </>
  );
}

function named(projects: Filters["projects"]): [string, string][] {
  const names = apart(projects.map((one) => one.project));
  return projects.map((one) => [one.project, `${names.get(one.project)} (${one.sessions})`]);
}

/** Filters in a box: open where there is room for it, folded on a phone. */
export function FilterBox({ of, set, which }: { of: Chosen; set: (next: Chosen) => void; which?: readonly Filter[] }) {
  const wide = useWide();
  const active = Object.values(of).filter(Boolean).length;
  return (
    <details class="filters" open={wide}>
      <summary>Filters{active > 0 && ` (${active})`}</summary>
      <div class="fields">
        <FilterFields of={of} set={set} which={which} />
        {active > 0 && (
          <button type="button" class="quiet" onClick={() => set({})}>
            Clear filters
          </button>
        )}
      </div>
    </details>
  );
}

const WIDE = matchMedia("(min-width: 60rem)");

export function useWide(): boolean {
  const [wide, set] = useState(WIDE.matches);
  useEffect(() => {
    const changed = () => set(WIDE.matches);
    WIDE.addEventListener("change", changed);
    return () => WIDE.removeEventListener("change", changed);
  }, []);
  return wide;
}
