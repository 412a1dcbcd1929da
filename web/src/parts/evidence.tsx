/** What a note or an answer rests on: what was said, with the way to its session, and notes; on demand. */

import { useState } from "preact/hooks";
import { ask, useAsked } from "../api";
import { address } from "../route";
import type { Event } from "../types";
import { Answer, Facts, Time } from "./basic";
import { Actions, Said } from "./said";

export function Evidence({ ids, label = "Evidence" }: { ids: string[]; label?: string }) {
  const [open, set] = useState(false);
  if (!ids.length) return null;
  return (
    <details class="aside" onToggle={(event) => set(event.currentTarget.open)}>
      <summary>
        {label} ({ids.length})
      </summary>
      {open && ids.map((id) => (NOTE.test(id) ? <OneNote key={id} id={id} /> : <One key={id} id={id} />))}
    </details>
  );
}

const NOTE = /^n[0-9a-f]{20}$/;

function OneNote({ id }: { id: string }) {
  const held = useAsked<{ note: { statement: string; kind: string; created: string | null } }>(id, (signal) =>
    ask(`memory/${encodeURIComponent(id)}`, { signal }),
  );
  return (
    <div class="evidence">
      <Answer of={held}>
        {({ note }) => (
          <>
            <Facts of={["note", note.kind, <Time of={note.created} />]} />
            <p class="statement">{note.statement}</p>
          </>
        )}
      </Answer>
    </div>
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
