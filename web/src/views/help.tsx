/** All keys, in a dialog. */

import type { RefObject } from "preact";
import { KEYS } from "../keys";

export function Help({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClick={(event) => event.target === dialog.current && close()}>
      <div class="dialog-body">
        <h2 id="help-title">Keys</h2>
        <dl class="keys">
          {KEYS.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                {keys.split(/\s+/).map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </dialog>
  );
}
