// Goal: the dashboard is used without a mouse, and survives its server. Method: keys alone in a real browser; a server that ends and comes back.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../../harness/browser.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import { look, openDashboard, someCalls } from "./kit.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

test("all views are reached, opened and left again by keys alone", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page, complaints } = await look(browser);
  await page.goto(`${url}/strata/`);
  await page.locator("h1").waitFor();
  const titles = ["Now", "Money", "Misses", "Weight", "Sessions", "Policies", "Models", "Health"];
  for (const title of titles) {
    await tabTo(page, title);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.title()).toBe(`${title} · Strata`);
    await page.locator("h1").waitFor();
    await page.evaluate("document.activeElement.blur()");
  }
  await page.goto(`${url}/strata/#/sessions`);
  await tabTo(page, "5f0c");
  await page.keyboard.press("Enter");
  await page.getByRole("application").waitFor();
  await tabTo(page, "Context");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("h1").innerText()).toContain("The window holds");
  for (const view of ["session", "sessions"]) {
    await page.goBack();
    await expect.poll(() => new URL(page.url()).hash).toMatch(new RegExp(`^#/${view}(?:/|$)`));
  }
  expect(complaints).toEqual([]);
});

test("a table is sorted by keys, and says by what to a screen reader", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/sessions`);
  await page.getByRole("columnheader", { name: "calls" }).waitFor();
  const counts = (): Promise<string[]> => page.locator("tbody tr td:nth-child(5)").allInnerTexts();
  await tabTo(page, "calls");
  await page.keyboard.press("Enter");
  expect(await counts()).toEqual(["5", "1"]);
  await page.keyboard.press("Enter");
  expect(await counts()).toEqual(["1", "5"]);
  expect(await page.getByRole("columnheader", { name: "calls" }).getAttribute("aria-sort")).toBe(
    "ascending",
  );
});

test("after a restart of the server the page goes on: nothing is missing, and nothing is counted twice", async () => {
  const dashboard = await openDashboard({ calls: [] });
  const { page } = await look(browser);
  await page.goto(`${dashboard.url}/strata/`);
  await expect.poll(() => page.locator(".live").innerText()).toBe("live");
  // A listener of its own, as the page opens one.
  await page.evaluate(`new Promise((resolve) => {
    window.seen = [];
    const source = new EventSource("/strata/v1/events/stream?types=gateway.call");
    source.addEventListener("message", ({ data }) => window.seen.push(JSON.parse(data).payload.call_id));
    source.addEventListener("open", resolve, { once: true });
  })`);
  const called = async (from: number, to: number): Promise<void> => {
    const nowMs = Date.now();
    await dashboard.record(
      Array.from({ length: to - from + 1 }, (_, index) =>
        gatewayCall("talk", from + index, { startMs: nowMs + index, endMs: nowMs + index + 5 }),
      ),
    );
  };
  const shows = async (calls: string): Promise<void> => {
    await expect
      .poll(() => page.getByRole("region", { name: "In figures" }).innerText(), { timeout: 30_000 })
      .toContain(calls);
  };
  await called(1, 3);
  await shows("3 calls");
  await dashboard.stop();
  await expect.poll(() => page.locator(".live").innerText()).toBe("not connected");
  await called(4, 5);
  await dashboard.start();
  await called(6, 7);
  await expect.poll(() => page.locator(".live").innerText(), { timeout: 30_000 }).toBe("live");
  await shows("7 calls");
  await expect
    .poll(() => page.evaluate<string[]>("window.seen"), { timeout: 30_000 })
    .toEqual(["talk-1", "talk-2", "talk-3", "talk-4", "talk-5", "talk-6", "talk-7"]);
});

/** Presses Tab until something with this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  const focused = `(() => { const at = document.activeElement; return [(at.textContent ?? "").trim().replace(/ [↓↑]$/, ""), at.matches(":focus-visible")]; })()`;
  let found: [string, boolean] = ["", false];
  for (let presses = 0; presses < 60 && found[0] !== name; presses += 1) {
    await page.keyboard.press("Tab");
    found = await page.evaluate<[string, boolean]>(focused);
  }
  expect(found).toEqual([name, true]);
}
