/** Nobody is known yet: a token, please. */

import { useState } from "preact/hooks";
import { held, Refusal } from "../api";
import { Field, Head, Trouble } from "../parts/basic";

export function Login({ error, entered }: { error: Refusal | null; entered: () => void }) {
  const [token, set] = useState("");
  const enter = (event: SubmitEvent) => {
    event.preventDefault();
    if (!token.trim()) return;
    held.token = token.trim();
    held.space = "";
    entered();
  };
  return (
    <div class="login">
      <Head title="Sign in" />
      <p>Everything your coding agents said, on this machine only. The page needs a token to read it.</p>
      {error && <Trouble error={error.hint.includes("`raw-rag web`") ? error : unknown(error)} />}
      <form onSubmit={enter}>
        <Field label="Token" hint="It is kept in this tab and forgotten when the tab is closed.">
          <input
            type="password"
            name="token"
            autocomplete="off"
            spellcheck={false}
            required
            autofocus
            value={token}
            placeholder="rrt_…"
            onInput={(event) => set(event.currentTarget.value)}
          />
        </Field>
        <button type="submit" class="main">
          Sign in
        </button>
      </form>
      <p class="fine">
        No token at hand? <code>raw-rag web</code> prints a link that opens this page once, without one.{" "}
        <code>raw-rag token create</code> makes one that lasts.
      </p>
    </div>
  );
}

/** What the server says to programs, for people. */
const unknown = (error: Refusal): Refusal =>
  new Refusal(error.status, error.code, "This token does not open the page.", "It is unknown, has ended, or was revoked. `raw-rag web` prints a link that needs none.");
