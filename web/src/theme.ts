/** Light, dark, or as the system says; kept in this browser. */

import { useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const NAME = "raw-rag-theme";
const ORDER: Theme[] = ["system", "light", "dark"];

function put(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function kept(): Theme {
  const said = localStorage.getItem(NAME) as Theme;
  return ORDER.includes(said) ? said : "system";
}

put(kept());

export function useTheme(): [Theme, () => void] {
  const [theme, set] = useState(kept);
  const turn = () => {
    const next = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length]!;
    localStorage.setItem(NAME, next);
    put(next);
    set(next);
  };
  return [theme, turn];
}
