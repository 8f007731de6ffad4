// The dashboard: one view at a time, chosen by the address.
import { render, type JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Say } from "./app/answered.tsx";
import { client, isStranger } from "./app/ask.ts";
import { isLive, openNews } from "./app/live.ts";
import { linkTo, place } from "./app/route.ts";
import { zone } from "./app/times.ts";
import { Context } from "./views/context.tsx";
import { Health } from "./views/health.tsx";
import { Misses } from "./views/misses.tsx";
import { Models } from "./views/models.tsx";
import { Money } from "./views/money.tsx";
import { Now } from "./views/now.tsx";
import { Policies } from "./views/policies.tsx";
import { Session } from "./views/session.tsx";
import { Sessions } from "./views/sessions.tsx";
import { Weight } from "./views/weight.tsx";

const views: readonly {
  readonly name: string;
  readonly title: string;
  readonly show: () => JSX.Element;
}[] = [
  { name: "now", title: "Now", show: Now },
  { name: "money", title: "Money", show: Money },
  { name: "misses", title: "Misses", show: Misses },
  { name: "weight", title: "Weight", show: Weight },
  { name: "sessions", title: "Sessions", show: Sessions },
  { name: "policies", title: "Policies", show: Policies },
  { name: "models", title: "Models", show: Models },
  { name: "health", title: "Health", show: Health },
];

const ofOneSession: ReadonlyMap<
  string,
  { readonly title: string; readonly show: () => JSX.Element }
> = new Map([
  ["session", { title: "Session", show: Session }],
  ["context", { title: "Context", show: Context }],
]);

function App(): JSX.Element {
  const { view } = place.value;
  const ofOne = ofOneSession.get(view);
  const shown = views.find(({ name }) => name === (ofOne === undefined ? view : "sessions"));
  const title = ofOne?.title ?? shown?.title ?? "Not found";
  useEffect(() => {
    document.title = `${title} · Strata`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        to the content
      </a>
      <header>
        <b>Strata</b>
        <nav aria-label="views">
          {views.map((each) => (
            <a
              key={each.name}
              href={linkTo(each.name)}
              aria-current={each === shown ? "page" : undefined}
            >
              {each.title}
            </a>
          ))}
        </nav>
        <span class="live" title={`times in ${zone}`}>
          <i class={`dot ${isLive.value ? "on" : ""}`} aria-hidden="true" />
          {isLive.value ? "live" : "not connected"}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        {isStranger.value ? (
          <Stranger />
        ) : ofOne ? (
          <ofOne.show />
        ) : shown ? (
          <shown.show />
        ) : (
          <NotFound />
        )}
      </main>
    </>
  );
}

/** The fragment belongs to the views, so the jump is made here. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function NotFound(): JSX.Element {
  return (
    <p>
      There is no such view. <a href={linkTo("now")}>Now</a>
    </p>
  );
}

/** What someone sees who is not logged in. */
function Stranger(): JSX.Element {
  return (
    <Say note="The address works once, within ten minutes of its printing.">
      This gateway asks who you are. Open the address that <code>strata serve</code> printed when it
      started.
    </Say>
  );
}

/** A code in the fragment logs this browser in, once, and disappears from the address. */
async function logIn(): Promise<void> {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", linkTo("now"));
  place.value = { view: "now", of: null, choices: new Map() };
  await client.ask("login", { body: { code: decodeURIComponent(code) } });
}

await logIn();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
openNews();
