// Goal: a person sees in the dashboard what the ledger has. Method: a real browser, the real API, every view.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { findBarriers } from "../../harness/accessibility.ts";
import { openBrowser } from "../../harness/browser.ts";
import { gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { hostileNames, look, openDashboard, someCalls } from "./kit.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

const overflowing = "document.documentElement.scrollWidth - innerWidth";

const views = [
  "now",
  "money",
  "money?group=cause",
  "misses",
  "weight",
  "sessions",
  "session/talk?call=3",
  "context/talk",
  "policies",
  "models",
  "health",
];

test("every view begins with a sentence that says what was paid or lost, and why", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page, complaints } = await look(browser);
  const says = async (view: string): Promise<string> => {
    await page.goto(`${url}/strata/#/${view}`);
    await page.reload();
    return page.locator("h1").innerText();
  };
  expect(await says("money")).toMatch(
    /^\$0\.155 in the last 7 days\. Without a cache the same calls would have cost \$/,
  );
  expect(await says("misses")).toBe(
    "$0.028 was lost in the last 7 days: 14,000 tokens that were in the cache before were paid for again. Most of it, $0.028, because the tool list changed (1 time).",
  );
  expect(await says("sessions")).toMatch(
    /^2 sessions cost \$0\.155 in the last 7 days; the dearest, 5f0c, \$0\.155\.$/,
  );
  expect(await says("session/talk")).toMatch(
    /^This session cost \$.*\. \$0\.028 of it was lost to 1 break: the tool list changed at call 3\. Keep the tool list/,
  );
  expect(await says("weight")).toMatch(
    /^Carrying prompts cost \$\d.* in the last 7 days; the heaviest, tool result of Bash, \$/,
  );
  expect(await says("context/talk")).toMatch(
    /^The window holds 14,520 tokens, \d\.\d % of [\d,]+\. Most of it is tool result of Bash: 12,400 tokens\.$/,
  );
  expect(await says("health")).toBe(
    "No gateway runs here: this server only answers questions about a ledger, and it can be read.",
  );
  expect(await says("models")).toMatch(/^\d+ models are known; prices were last checked on 2026-/);
  expect(await says("policies")).toBe(
    "tail-1h would have cost $0.020 where $0.031 was paid in the last 7 days.",
  );
  expect(await says("now")).toMatch(/^Today cost|^No calls today/);
  await expect
    .poll(() => page.getByRole("region", { name: "Latest misses" }).innerText())
    .toContain("14,000 tokens paid again, $0.028");
  expect(complaints).toEqual([]);
});

test("money by cause adds up to what was paid, beside what it would have been without a break", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/money?group=cause`);
  const compared = page.getByRole("region", { name: "The same calls, paid three ways" });
  await expect.poll(() => compared.innerText()).toMatch(/paid\s+\$0\.\d+/);
  expect(await compared.innerText()).toContain("strata replay works it out");
  const table = page.getByRole("region", { name: "costs by cause" });
  await table.waitFor();
  const text = await table.innerText();
  expect(text).toMatch(/The tool list changed\s+\$0\.028\s+\d+\.\d %\s+1/);
  const paid = (await compared.innerText()).match(/\npaid\s+\$(0\.\d+)/)?.[1];
  const parts = [...text.matchAll(/\$(0\.\d+)/g)].map(([, amount]) => Number(amount));
  expect(parts).toHaveLength(2);
  // Each is written to a thousandth of a dollar.
  expect(Math.abs(parts.reduce((sum, each) => sum + each, 0) - Number(paid))).toBeLessThan(0.002);
});

test("words to search for are in the address, and narrow what is listed", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/sessions?q=talk`);
  await expect.poll(() => page.locator("h2").innerText()).toBe("1 session");
  await page.getByRole("searchbox").fill("no such words");
  await expect
    .poll(() => page.locator("main").innerText())
    .toContain("No session has these words.");
  expect(new URL(page.url()).hash).toBe("#/sessions?q=no+such+words");
  await page.goto(`${url}/strata/#/models?q=opus+5.5`);
  await expect.poll(() => page.locator("h2").innerText()).toMatch(/^\d+ models?$/);
});

test("a chosen call has an address of its own, with the exact figures of its bill", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/session/talk?call=2`);
  const card = page.locator("#chosen-call");
  await expect.poll(() => card.innerText()).toContain("Call 2");
  expect(await card.innerText()).toContain("2,040 tokens");
  expect(await card.innerText()).toContain("12,400 tokens");
  await page.locator("#chosen-call summary").first().click();
  expect(await card.innerText()).toContain("T3 tool result of Bash: 12,400 tokens");
  await expect.poll(() => card.innerText()).toMatch(/tail-1h\s+\$0\.020\s+paid\s+\$/);
});

test.each([
  [360, "light", views],
  [1280, "dark", views],
  [2400, "light", ["now", "session/talk?call=3"]],
] as const)(
  "at %i pixels, %s, every view fits, is accessible, and loads nothing from elsewhere",
  async (width, colours, shown) => {
    const { url } = await openDashboard({ calls: someCalls() });
    const { page, complaints } = await look(browser, { width, colours });
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
        elsewhere.push(request.url());
    });
    for (const view of shown) {
      await page.goto(`${url}/strata/#/${view}`);
      await page.locator("h1").waitFor();
      await expect.poll(() => page.getByText("asking the ledger").count()).toBe(0);
      const overflow = await page.evaluate(overflowing);
      expect([view, overflow]).toEqual([view, 0]);
      expect([view, await findBarriers(page)]).toEqual([view, [true]]);
    }
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test("untrusted names are text: never markup, and never wider than the page", async () => {
  const { url } = await openDashboard({ calls: someCalls(Date.now(), hostileNames) });
  const { page } = await look(browser, { width: 360 });
  for (const view of views) {
    await page.goto(`${url}/strata/#/${view}`);
    await page.locator("h1").waitFor();
    await expect.poll(() => page.getByText("asking the ledger").count()).toBe(0);
    expect(await page.evaluate(overflowing)).toBe(0);
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.title()).toContain("Strata");
  }
});

test("with a token, a stranger is told what to do, and a code from the gateway opens the page once", async () => {
  const { url, api } = await openDashboard({ calls: someCalls(), token: "a token of this test" });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/`);
  await expect
    .poll(() => page.locator("h1").innerText())
    .toContain("This gateway asks who you are.");
  const code = api.newLoginCode();
  await page.goto("about:blank");
  await page.goto(`${url}/strata/#code=${code}`);
  await expect.poll(() => page.locator("h1").innerText()).toContain("Today cost");
  expect(page.url()).not.toContain(code);
  const other = await look(browser);
  await other.page.goto(`${url}/strata/#code=${code}`);
  await expect
    .poll(() => other.page.locator("h1").innerText())
    .toContain("This gateway asks who you are.");
});

test("open conversations count down, with what it costs if they go cold", async () => {
  const { url } = await openDashboard({ calls: someCalls(Date.now() - 60_000) });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/`);
  const card = page.getByRole("region", { name: "Open conversations" });
  await expect
    .poll(() => card.innerText())
    .toMatch(/claude-code\s+[34]:\d\d left\s+cold: \$0\.0\d+/);
  const before = await card.innerText();
  await expect.poll(() => card.innerText()).not.toBe(before);
});

test("an hour that costs and misses more than usual is said in the first view, against a limit in the address", async () => {
  const hourMs = 3_600_000;
  const hoursAgo = (hours: number, count: number): ReturnType<typeof gatewayCall>[] =>
    Array.from({ length: count }, (_, index) => {
      const startMs = Date.now() - hours * hourMs - 600_000 + index;
      const times = { startMs, firstByteMs: startMs + 300, endMs: startMs + 900 };
      const explanation = hours === 0 ? missed({}) : null;
      return {
        ...gatewayCall(`at ${hours}`, index + 1, times),
        explanation,
        costPicoUsd: 10n ** 10n,
      };
    });
  const calls = [5, 6, 7, 8].flatMap((hours) => hoursAgo(hours, 2));
  const { url } = await openDashboard({ calls: [...calls, ...hoursAgo(0, 8)] });
  const { page } = await look(browser, { width: 360 });
  await page.goto(`${url}/strata/`);
  const card = page.getByRole("region", { name: "Unusual in the last hour" });
  await expect
    .poll(() => card.innerText())
    .toContain("$0.080 was paid, where an hour usually costs $0.020.");
  expect(await card.innerText()).toContain(
    "100.0 % of calls broke the cache, where usually 0.0 % do.",
  );
  await page.goto(`${url}/strata/#/now?unusual=5`);
  await expect.poll(() => card.innerText()).not.toContain("was paid");
  expect(await card.innerText()).toContain("broke the cache");
});

test("an empty ledger says what to do", async () => {
  const { url } = await openDashboard({ calls: [] });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/`);
  await expect.poll(() => page.locator("h1").innerText()).toContain("Point an agent here");
});
