// The two views of one session.
import type { JSX } from "preact";
import { linkTo } from "../app/route.ts";

const views = [
  ["session", "Cross-section"],
  ["context", "Context"],
] as const;

export function SessionTabs({
  session,
  view,
}: {
  readonly session: string;
  readonly view: "session" | "context";
}): JSX.Element {
  return (
    <nav aria-label="views of this session" class="tabs">
      {views.map(([name, title]) => (
        <a
          key={name}
          href={linkTo(name, session)}
          aria-current={name === view ? "page" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
