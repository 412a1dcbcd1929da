/** Where a note comes from: what was said, on demand, with the way to its session. */

import { useState } from "preact/hooks";
import { ask, useAsked } from "../api";
import { address } from "../route";
import type { Event } from "../types";
import { Answer, Facts, Time } from "./basic";
import { Actions, Said } from "./said";

export function Evidence({ ids }: { ids: string[] }) {
  const [open, set] = useState(false);
  if (!ids.length) return null;
  return (
    <details class="aside" onToggle={(event) => set(event.currentTarget.open)}>
      <summary>Evidence ({ids.length})</summary>
      {open && ids.map((id) => <One key={id} id={id} />)}
    </details>
  );
}

function One({ id }: { id: string }) {
  const said = useAsked<Event>(id, (signal) => ask(`events/${encodeURIComponent(id)}`, { signal }));
  return (
    <div class="evidence">
      <Answer of={said}>
        {(event) => (
          <>
            <Facts
              of={[
                event.role,
                event.agent,
                <Time of={event.time} />,
                event.session && event.turn !== null && <a href={address("session", event.session, { turn: event.turn })}>Open session here</a>,
              ]}
            />
            {event.text && <Said text={event.text} />}
            <Actions lines={event.actions} />
          </>
        )}
      </Answer>
    </div>
  );
}
