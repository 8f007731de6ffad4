// Goal: `strata inspect` says what one session cost, and its page works in any browser that opens it. Method: a ledger of calls, and the file in a real browser.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { findBarriers } from "../../harness/accessibility.ts";
import { openBrowser } from "../../harness/browser.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { createTestIo } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { hostileNames, look, someCalls } from "./kit.ts";

async function openLedger(
  names?: Parameters<typeof someCalls>[1],
): Promise<{ readonly store: string; readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "strata-inspect-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, "ledger.db");
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls(someCalls(Date.parse("2026-11-18T12:00:00Z"), names));
  });
  return { store, folder };
}

async function strata(
  ...args: readonly string[]
): Promise<{ readonly status: number; readonly out: string; readonly err: string }> {
  const { io, said } = createTestIo();
  const status = await runCli(args, io);
  return { status, out: said.out, err: said.error };
}

test("one session in words: what it cost, what was lost and why, what was carried", async () => {
  const { store } = await openLedger();
  const { status, out } = await strata("inspect", "talk", "--store", store);
  expect(status).toBe(0);
  expect(out).toMatch(
    /^This session cost \$0\.\d+\. Without a cache it would have cost \$0\.\d+\. \$0\.028 of it was lost to 1 break: the tool list changed at call 3\. Keep the tool list/,
  );
  expect(out).toContain("5f0c · claude-code · 5 calls · ");
  expect(out).toContain("  call 3  The tool list changed");
  expect(out).toMatch(
    / {2}tool result of Bash: 12,400 tokens, carried for 4 calls, \$0\.\d+ so far/,
  );
  expect(out).toContain("Sub-agents\n  worker  worker: 1 call");
  const json = await strata("inspect", "talk", "--store", store, "--json");
  expect(JSON.parse(json.out)).toMatchObject({
    session: "talk",
    left_out_count: 0,
    children: [{ session: "worker", kind: "sub-agent" }],
    calls: [{ number: 1 }, { number: 2 }, { number: 3 }, { number: 4 }, { number: 5 }],
  });
});

test("its page stands alone: figures, sub-agents and untrusted names, without asking for anything", async () => {
  const { store, folder } = await openLedger(hostileNames);
  const file = join(folder, "page.html");
  const { status, out } = await strata("inspect", "talk", "--store", store, "--html", file);
  expect([status, out.trimEnd().split("\n").at(-1)]).toEqual([
    0,
    `The cross-section is in ${file}`,
  ]);
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const { page, complaints } = await look(browser, { width: 360 });
  const asked: string[] = [];
  page.on("request", (request) => {
    if (!/^(?:file|data):/.test(request.url())) asked.push(request.url());
  });
  await page.goto(pathToFileURL(file).href);
  expect(await page.locator("h1").innerText()).toContain("the tool list changed at call 3");
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
  expect(await findBarriers(page)).toEqual([true]);
  await page.getByRole("application").focus();
  for (const _ of [1, 2]) await page.keyboard.press("ArrowRight");
  expect(await page.locator("#chosen-call").innerText()).toMatch(/tail-1h\s+\$0\.020/);
  await page.goto(`${pathToFileURL(file).href}#/session/worker`);
  await expect.poll(() => page.locator("h1").innerText()).toContain("This session cost");
  await page.goBack();
  await expect.poll(() => page.locator("h1").innerText()).toContain("changed at call 3");
  expect(await page.title()).toBe("5f0c · Strata");
  expect(await page.locator("img").count()).toBe(0);
  expect([asked, complaints]).toEqual([[], []]);
});

test("a session that is not there, or a place that cannot be written, is an error before any work", async () => {
  const { store, folder } = await openLedger();
  const unknown = await strata("inspect", "tak", "--store", store);
  expect([unknown.status, unknown.out]).toEqual([7, ""]);
  expect(unknown.err).toContain("there is no session tak");
  const nowhere = join(folder, "no such folder", "page.html");
  const refused = await strata("inspect", "talk", "--store", store, "--html", nowhere);
  expect([refused.status, refused.out]).toEqual([6, ""]);
  expect(refused.err).toContain("the page cannot be written to");
});
