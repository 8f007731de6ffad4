// What is shown while an answer is on its way, where it was refused, and where there is nothing.
import type { ComponentChildren, JSX } from "preact";
import type { Asked } from "./ask.ts";

export function Answered<Answer>({
  to,
  children,
}: {
  readonly to: Asked<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}): JSX.Element {
  if (to.kind === "waiting") return <p class="note">asking the ledger …</p>;
  if (to.kind === "refused") {
    const { message, hint } = to.error;
    return (
      <p role="alert">
        <b class="fault">{message}</b>
        <br />
        <span class="note">{hint}</span>
      </p>
    );
  }
  return <>{children(to.answer)}</>;
}

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="note">{children}</p>;
}

export function Card({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** The sentence that every view begins with. */
export function Say({
  children,
  note,
}: {
  readonly children: ComponentChildren;
  readonly note?: ComponentChildren;
}): JSX.Element {
  return (
    <div>
      <h1 class="say">{children}</h1>
      {note !== undefined && <p class="note">{note}</p>}
    </div>
  );
}

/** What limits the figures above. */
export function Notes({ of }: { readonly of: readonly string[] }): JSX.Element | null {
  return of.length === 0 ? null : <p class="note">{of.join(" · ")}</p>;
}
