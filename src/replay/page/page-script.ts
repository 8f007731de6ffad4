// The page's only script: draws the chosen session under the chosen policy.
import { drawCrossSection, inPageFunctions, listMisses, summariseSession } from "./in-page.ts";
import type { PageData } from "./page-data.ts";

/** The part of a browser's document that the script uses. */
export interface PageDocument {
  getElementById(id: string): PageElement | null;
}

export interface PageElement {
  value: string;
  hidden: boolean;
  innerHTML: string;
  readonly textContent: string | null;
  addEventListener(type: "change", listener: () => void): void;
}

/** Draws the content of an element, by its id. */
type Drawings = Readonly<
  Record<string, (data: PageData, session: number, policy: number) => string>
>;

export function pageScript(): string {
  const text = [
    '"use strict";',
    ...[...inPageFunctions, bindChoices].map(String),
    // Names come from the functions because a bundler may rename them.
    `${bindChoices.name}(document, {
  "cross-section-summary": ${summariseSession.name},
  "cross-section": ${drawCrossSection.name},
  "cross-section-misses": ${listMisses.name},
});`,
  ].join("\n");
  // Browsers normalise line ends before they hash an inline script.
  return text.replaceAll("\r\n", "\n");
}

/** Its text runs in the page, so it uses nothing from this module. */
function bindChoices(document: PageDocument, drawings: Drawings): void {
  const data: PageData = JSON.parse(document.getElementById("replay-data")?.textContent ?? "");
  const session = document.getElementById("session-choice");
  const policy = document.getElementById("policy-choice");
  const choices = document.getElementById("choices");
  if (session === null || policy === null || choices === null) return;
  const draw = (): void => {
    for (const [id, drawing] of Object.entries(drawings)) {
      const element = document.getElementById(id);
      if (element !== null) element.innerHTML = drawing(data, +session.value, +policy.value);
    }
  };
  session.addEventListener("change", draw);
  policy.addEventListener("change", draw);
  choices.hidden = false;
  // A browser may restore the choices of the last visit.
  draw();
}
