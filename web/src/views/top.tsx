/** The bar over every view: where one is, in which space, and who. */

import { missing, VIEWS } from "../access";
import { held } from "../api";
import { useWide } from "../parts/filters";
import { address } from "../route";
import type { Theme } from "../theme";
import type { Me } from "../types";

interface Props {
  me: Me | null;
  view: string;
  theme: Theme;
  turn: () => void;
  leave: () => void;
  move: (space: string) => void;
  help: () => void;
}

export function Top(props: Props) {
  const wide = useWide();
  const { me, view } = props;
  const places = (
    <nav aria-label="Views">
      <ul>
        {VIEWS.filter(([name]) => me && !missing(name, me)).map(([name, said]) => (
          <li key={name}>
            <a href={address(name)} aria-current={view === name ? "page" : undefined}>
              {said}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
  return (
    <header class="top">
      <a class="brand" href={address("search")}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
          <rect width="32" height="32" rx="7" class="brand-back" />
          <path d="M8 10h16M8 16h11M8 22h14" class="brand-lines" />
        </svg>
        raw-rag
      </a>
      {me && wide && places}
      {wide || !me ? (
        <Tools {...props} />
      ) : (
        <details class="menu" key={view} onKeyDown={(event) => event.key === "Escape" && event.currentTarget.removeAttribute("open")}>
          <summary>Menu</summary>
          <div class="menu-body">
            {places}
            <Tools {...props} />
          </div>
        </details>
      )}
    </header>
  );
}

function Tools({ me, theme, turn, leave, move, help }: Props) {
  return (
    <div class="tools">
      {me && me.spaces.length > 1 && (
        <label class="space">
          <span>Space</span>
          <select value={held.space || me.space || ""} onChange={(event) => move(event.currentTarget.value)}>
            {!held.space && !me.space && <option value="">choose…</option>}
            {me.spaces.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      <button type="button" class="quiet" onClick={turn} title="System, light, dark">
        Theme: {theme === "system" ? "auto" : theme}
      </button>
      <button type="button" class="quiet" onClick={help}>
        Keys
      </button>
      {me && (
        <button type="button" class="quiet" onClick={leave} title={me.label}>
          Sign out
        </button>
      )}
    </div>
  );
}
