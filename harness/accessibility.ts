// What axe finds wrong with a page for people who do not see it or use no mouse.
import axe from "axe-core";
import type { Page } from "playwright-core";

/** `[true]` where nothing is wrong and enough was looked at; else what is wrong, each with its places. */
export function findBarriers(page: Page): Promise<readonly unknown[]> {
  // As a string of the test, not of the page: its policy forbids other scripts than its own.
  return page.evaluate<readonly unknown[]>(
    `(() => { ${axe.source}; return axe.run(document, { resultTypes: ["violations"] }).then(({ passes, violations }) => [passes.length > 10, ...violations.map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html.slice(0, 120)).join(" | "))]); })()`,
  );
}
