/** Which views a token opens: those it may not are not in the menu, and their addresses say what is missing. */

import type { Me } from "./types";

/** Name, title, key after `g`, and the scope it takes. */
export const VIEWS: [name: string, title: string, key: string, scope: string][] = [
  ["search", "Search", "s", "read"],
  ["timeline", "Timeline", "t", "read"],
  ["notes", "Notes", "n", "read"],
  ["chat", "Chat", "c", "chat"],
  ["status", "Status", "u", "read"],
  ["journal", "Journal", "j", "curate"],
  ["forget", "Forget", "f", "admin"],
];

/** What a view lacks to be shown to somebody, in words and what to do; null: nothing. */
export function missing(view: string, me: Me): { said: string; hint: string } | null {
  const found = VIEWS.find(([name]) => name === (view === "session" ? "search" : view));
  if (!found) return null;
  const [name, , , scope] = found;
  if (!me.scopes.includes(scope))
    return {
      said: `This view needs a token with the scope “${scope}”. Yours has: ${me.scopes.join(", ") || "none"}.`,
      hint: `raw-rag token create --label page --scope ${[...new Set(["read", ...me.scopes, scope])].join(",")}`,
    };
  return name === "chat" && !me.chat ? { said: "No model is set up for chat. The section [llm] of config.toml names one, for example:", hint: LLM } : null;
}

const LLM = '[llm]\nurl = "http://127.0.0.1:11434/v1"\nmodel = "qwen3:8b"';
