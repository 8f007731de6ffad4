// Goal: the page of a replay works in any browser that opens it. Method: a real browser, with the network cut off.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../harness/browser.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { CallDetail } from "../../src/replay/call-detail.ts";
import { renderReplayPage } from "../../src/replay/page/render-replay-page.ts";
import type { Recorded, RecordedBlock } from "../../src/replay/recording.ts";
import { replay } from "../../src/replay/replay.ts";

const hostile = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">`;

async function* recordings(): AsyncGenerator<Recorded> {
  for (const id of [`one ${hostile}`, "two"]) {
    yield {
      type: "session",
      session: {
        id,
        file: `${id}.jsonl`,
        format: "request-log",
        agent: "tester",
        wire: "anthropic-messages",
        blocks: "as sent",
        isWhole: true,
        workspace: id,
      },
    };
    for (let call = 0; call < 5; call += 1) {
      const append: RecordedBlock[] = [
        {
          hash: `${id} ${call}`,
          tokens: 3000,
          tier: call === 0 ? "T1" : "T3",
          kind: "text",
          role: call === 0 ? "system" : "user",
          endsMessage: true,
          mayCarryMarker: true,
          excerpt: `call ${call}: ${hostile}`,
        },
      ];
      const startMs = Date.parse("2026-11-15T12:00:00Z") + call * (call === 3 ? 900_000 : 60_000);
      yield {
        type: "request",
        sessionId: id,
        request: {
          thread: "",
          startMs,
          endMs: null,
          model: "claude-sonnet-4-6",
          keep: call,
          append,
          remainderTokens: 0,
          usage: null,
          markers: null,
          settings: {},
        },
      };
    }
  }
}

let browser: Browser;
let folder: string;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  const details: CallDetail[] = [];
  const report = await replay(recordings(), {
    policies: ["adaptive", "tail-5m", "none"].map(findPolicy),
    model: null,
    groupBy: "none",
    onCall: (call) => void details.push(call),
  });
  folder = mkdtempSync(join(tmpdir(), "strata-page-"));
  writeFileSync(join(folder, "page.html"), renderReplayPage(report, details, { excerpts: true }));
  browser = await openBrowser();
  page = await browser.newPage();
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) problems.push(request.url());
  });
  await page.goto(pathToFileURL(join(folder, "page.html")).href);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("shows every policy against the limit, and one column per call", async () => {
  expect(await page.locator("#costs rect.bar").count()).toBe(3);
  expect(await page.locator("#policies tbody tr").count()).toBe(3);
  expect(await page.locator("#cross-section g.call").count()).toBe(5);
});

test("draws another session or policy when one is chosen", async () => {
  const before = await page.locator("#cross-section").innerHTML();
  await page.locator("#policy-choice").selectOption({ index: 2 });
  const none = await page.locator("#cross-section").innerHTML();
  expect(none).not.toBe(before);
  expect(await page.locator("#cross-section rect.read").count()).toBe(0);
  await page.locator("#session-choice").selectOption({ index: 1 });
  expect(await page.locator("#cross-section g.call").count()).toBe(5);
});

test("shows what a miss did not read as the words they are", async () => {
  await page.locator("#policy-choice").selectOption("tail-5m");
  await page.locator("summary", { hasText: "Misses of this session" }).click();
  const cells = page.locator("#cross-section-misses td.excerpt");
  expect(await cells.allTextContents()).toEqual([`call 0: ${hostile}`, `call 0: ${hostile}`]);
  expect(await cells.first().isVisible()).toBe(true);
  expect(await cells.locator("*").count()).toBe(0);
  expect(await page.locator("#excerpts").textContent()).toContain("look at it before you share it");
});

test("runs nothing that came with the data, and asks for nothing outside", async () => {
  expect(await page.title()).not.toBe("taken");
  expect(await page.locator("img").count()).toBe(0);
  expect(problems).toEqual([]);
});
