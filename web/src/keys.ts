/** The keyboard. What is stepped through says so in the DOM: `data-step` is an item, `data-exchange` begins an exchange,
 * and inside an item `data-open` and `data-copy` are what `o` and `c` press. No key fires while something is typed. */

import { useEffect } from "preact/hooks";
import { VIEWS } from "./access";
import { address, go } from "./route";

export const KEYS: [string, string][] = [
  ["/", "Search"],
  ["j  k", "Next, previous result, turn or note"],
  ["o  Enter", "Open the current one"],
  ["c", "Copy the current one"],
  ["e", "Next exchange in a session"],
  ...VIEWS.map(([, title, key]): [string, string] => [`g ${key}`, title]),
  ["?", "This help"],
  ["Esc", "Close, or leave a field"],
];
const PLACES: Record<string, string> = Object.fromEntries(VIEWS.map(([name, , key]) => [key, name]));
const PREFIX_MS = 1500;
/** How long the view with the search box may take to come. */
const FRAMES = 60;

export function useKeys(help: () => void): void {
  useEffect(() => {
    let after = 0;
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
      const target = event.target as HTMLElement;
      if (target.closest("input, textarea, select, [contenteditable]")) {
        if (event.key === "Escape") target.blur();
        return;
      }
      const place = PLACES[event.key];
      if (Date.now() < after) {
        after = 0;
        if (place) {
          event.preventDefault();
          go(address(place));
        }
        return;
      }
      if (event.key === "g") after = Date.now() + PREFIX_MS;
      else if (act(event, target, help)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

function act(event: KeyboardEvent, target: HTMLElement, help: () => void): boolean {
  switch (event.key) {
    case "/":
      toSearch();
      return true;
    case "?":
      help();
      return true;
    case "j":
    case "ArrowDown":
      return (event.key === "j" || target.matches("[data-step]")) && step(1);
    case "k":
    case "ArrowUp":
      return (event.key === "k" || target.matches("[data-step]")) && step(-1);
    case "e":
      return step(1, "[data-exchange]");
    case "o":
      return press("[data-open]");
    case "Enter":
      return target.matches("[data-step]") && press("[data-open]");
    case "c":
      return press("[data-copy]");
    default:
      return false;
  }
}

function toSearch(): void {
  if (!document.querySelector("[data-search]")) go(address("search"));
  let frames = FRAMES;
  const focus = () => {
    const field = document.querySelector<HTMLInputElement>("[data-search]");
    field?.focus();
    field?.select();
    if (!field && frames--) requestAnimationFrame(focus);
  };
  focus();
}

function step(by: 1 | -1, which = "[data-step]"): boolean {
  const items = [...document.querySelectorAll<HTMLElement>(which)];
  const now = document.activeElement?.closest<HTMLElement>("[data-step]") ?? null;
  const place = now ? items.findIndex((one) => one === now || !!(now.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)) : -1;
  let to: HTMLElement | undefined;
  if (!now) to = items.find((one) => one.getBoundingClientRect().bottom > 80);
  else if (by === 1) to = place < 0 ? undefined : items[place] === now ? items[place + 1] : items[place];
  else to = place < 0 ? items.at(-1) : items[place - 1];
  if (!to) return false;
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: which === "[data-exchange]" || to.offsetHeight > innerHeight * 0.7 ? "start" : "nearest" });
  return true;
}

function press(what: string): boolean {
  const button = document.activeElement?.closest("[data-step]")?.querySelector<HTMLElement>(what);
  button?.click();
  return !!button;
}
