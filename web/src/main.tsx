/** The page: who is looking, where, and what is shown there. */

import "./style/base.css";
import "./style/parts.css";
import "./style/views.css";
import { render } from "preact";
import { useEffect, useLayoutEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { ask, asRefusal, held, Refusal } from "./api";
import { missing, VIEWS } from "./access";
import { useKeys } from "./keys";
import { Head, Nothing, Trouble, Waiting } from "./parts/basic";
import { instead, parsed, useRoute } from "./route";
import { useTheme } from "./theme";
import type { Me } from "./types";
import { Chat } from "./views/chat";
import { Forget } from "./views/forget";
import { Help } from "./views/help";
import { JournalView } from "./views/journal";
import { Login } from "./views/login";
import { Notes } from "./views/notes";
import { Search } from "./views/search";
import { SessionView } from "./views/session";
import { StatusView } from "./views/status";
import { TimelineView } from "./views/timeline";
import { Top } from "./views/top";

interface Gate {
  me: Me | null;
  error: Refusal | null;
}

function App() {
  const [{ me, error }, set] = useState<Gate>({ me: null, error: null });
  const [entering, enter] = useState(held.token !== "" || code() !== "");
  const help = useRef<HTMLDialogElement>(null);
  const main = useRef<HTMLElement>(null);
  const [theme, turn] = useTheme();
  const route = useRoute();
  useKeys(() => help.current?.showModal());

  const look = async () => {
    enter(true);
    set(await who());
    enter(false);
  };
  useLayoutEffect(() => {
    if (entering) void look();
    const locked = (event: Event) => {
      held.token = "";
      set({ me: null, error: (event as CustomEvent<Refusal>).detail });
    };
    const linked = () => code() && void look();
    addEventListener("raw-rag-locked", locked);
    addEventListener("hashchange", linked);
    return () => {
      removeEventListener("raw-rag-locked", locked);
      removeEventListener("hashchange", linked);
    };
  }, []);
  useEffect(() => {
    if (!route.query.has("turn")) scrollTo(0, 0);
  }, [route.view, route.id]);

  const skip = (event: MouseEvent) => {
    event.preventDefault();
    main.current?.focus();
  };
  const leave = async () => {
    await ask("logout", { method: "POST" }).catch(() => null); // a pasted token stays good; this tab forgets it either way
    held.token = held.space = "";
    set({ me: null, error: null });
  };
  const move = (space: string) => {
    held.space = space;
    void look();
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <Top me={me} view={route.view} theme={theme} turn={turn} leave={leave} move={move} help={() => help.current?.showModal()} />
      <main id="main" ref={main} tabIndex={-1}>
        {entering ? (
          <Waiting what="Opening" />
        ) : me ? (
          <View key={`${me.space} ${held.space}`} route={route} me={me} />
        ) : error && error.status !== 401 ? (
          <Trouble error={error} again={look} />
        ) : (
          <Login error={error} entered={look} />
        )}
      </main>
      <Help dialog={help} />
    </>
  );
}

/** A view that breaks says so; the menu stays, and another address is another chance. */
function View({ route, me }: { route: ReturnType<typeof parsed>; me: Me }) {
  const [broken, mend] = useErrorBoundary();
  useEffect(() => {
    if (broken) mend();
  }, [route]);
  return broken ? <Trouble error={asRefusal(broken)} again={mend} /> : <Chosen route={route} me={me} />;
}

function Chosen({ route, me }: { route: ReturnType<typeof parsed>; me: Me }) {
  const lacks = missing(route.view, me);
  if (lacks)
    return (
      <>
        <Head title={VIEWS.find(([name]) => name === route.view)?.[1] ?? "Session"} />
        <Nothing>
          <p>{lacks.said}</p>
          <pre tabIndex={0} role="region" aria-label="What to do">
            <code>{lacks.hint}</code>
          </pre>
        </Nothing>
      </>
    );
  switch (route.view) {
    case "session":
      return <SessionView key={route.id} id={route.id} query={route.query} me={me} />;
    case "timeline":
      return <TimelineView query={route.query} />;
    case "notes":
      return <Notes query={route.query} me={me} />;
    case "status":
      return <StatusView me={me} />;
    case "journal":
      return <JournalView query={route.query} />;
    case "forget":
      return <Forget query={route.query} />;
    case "chat":
      return <Chat me={me} />;
    case "search":
      return <Search query={route.query} />;
    default:
      return (
        <>
          <Head title="Nothing here" />
          <Trouble error={new Refusal(0, "not_found", "There is no such view.", "The menu has all of them.")} />
        </>
      );
  }
}

/** Who is looking. A link that is used up ends no session that goes on, and a space that is gone is left. */
async function who(): Promise<Gate> {
  try {
    await redeem();
  } catch (failed) {
    if (!held.token) return { me: null, error: asRefusal(failed) };
  }
  try {
    return { me: await ask<Me>("me"), error: null };
  } catch (failed) {
    const error = asRefusal(failed);
    if (held.space && (error.status === 403 || error.status === 404)) {
      held.space = "";
      return who();
    }
    if (error.status === 401) held.token = "";
    return { me: null, error };
  }
}

/** The code of a one-time link, from the address. */
function code(): string {
  return /^#\/?login=([^&/?]+)/.exec(location.hash)?.[1] ?? "";
}

const USED = "It works once, within ten minutes, while its server runs. `raw-rag web` prints a new one.";

/** A one-time code is given in for a token, and leaves the address and the history before it is used. */
async function redeem(): Promise<void> {
  const once = code();
  if (!once) return;
  instead("#/");
  const { token } = await ask<{ token: string }>("login", { method: "POST", token: once }).catch((failed: unknown) => {
    const refusal = asRefusal(failed);
    throw refusal.status === 401 ? new Refusal(401, refusal.code, "This link does not open the page any more.", USED) : refusal;
  });
  held.token = token;
  held.space = "";
}

render(<App />, document.getElementById("app")!);
