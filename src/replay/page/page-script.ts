// The page's only script: draws the chosen session under the chosen policy.
import { drawCrossSection, inPageFunctions, listMisses, summariseSession } from "./in-page.ts";
import type { PageData } from "./page-data.ts";

/** As much of a browser's document as the script needs. */
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

/** What fills an element of the page, by its id. */
type Drawings = Readonly<
  Record<string, (data: PageData, session: number, policy: number) => string>
>;

export function pageScript(): string {
  const text = [
    '"use strict";',
    ...[...inPageFunctions, bindChoices].map(String),
    // A bundler may have renamed them.
    `${bindChoices.name}(document, {
  "cross-section-summary": ${summariseSession.name},
  "cross-section": ${drawCrossSection.name},
  "cross-section-misses": ${listMisses.name},
});`,
  ].join("\n");
  // A browser hashes an inline script with its line ends made one kind.
  return text.replaceAll("\r\n", "\n");
}

/** Runs in the page as text, so it uses nothing of this module. */
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
  // A browser may keep the choices of the last visit.
  draw();
}
