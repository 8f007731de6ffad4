// Goal: the page of a replay works in any browser that opens it. Method: a real browser, with the network cut off.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findBarriers } from "../../harness/accessibility.ts";
import { openBrowser } from "../../harness/browser.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { renderFile } from "../../src/dashboard/file/render-file.ts";
import { toReplayed } from "../../src/dashboard/file/to-replayed.ts";
import type { CallDetail } from "../../src/replay/call-detail.ts";
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
          usage: call === 4 ? null : bill(call),
          markers: null,
          settings: {},
        },
      };
    }
  }
}

type RecordedUsage = NonNullable<CallDetail["recorded"]>;

let browser: Browser;
let folder: string;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  const details: CallDetail[] = [];
  const report = await replay(recordings(), {
    policies: ["adaptive", "tail-5m", "none", "tail-5m"].map(findPolicy),
    model: null,
    groupBy: "none",
    onCall: (call) => void details.push(call),
  });
  folder = mkdtempSync(join(tmpdir(), "strata-page-"));
  const data = toReplayed(report, details, { catalogue: builtInCatalogue, excerpts: true });
  writeFileSync(join(folder, "page.html"), await renderFile(`replay ${hostile}`, data));
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

test("one sentence says what was paid and what the best policy would have paid; equal policies are one row", async () => {
  expect(await page.locator("h1").innerText()).toMatch(
    /^You paid \$0\.\d+ \(\$0\.\d+ for input, \$0\.\d+ for output\)\. The same sessions would have cost \$0\.\d+/,
  );
  const rows = page.locator("table.bars tbody tr");
  expect(await rows.locator("th").allInnerTexts()).toEqual([
    "as it was billed",
    "adaptive",
    "tail-5m, tail-5m",
    "none",
  ]);
});

test("the page of a replay has no barriers", async () => {
  expect(await findBarriers(page)).toEqual([true]);
});

test("the limit is behind the bars and crosses none of their names", async () => {
  const boxes = await page.evaluate<readonly (readonly [number, number])[]>(`(() => {
    const limits = [...document.querySelectorAll("table.bars tbody .limit")];
    return limits.map((limit) => [
      limit.getBoundingClientRect().left,
      limit.closest("tr").querySelector("th").getBoundingClientRect().right,
    ]);
  })()`);
  expect(boxes).toHaveLength(4);
  for (const [limit, nameEnd] of boxes) expect(limit).toBeGreaterThanOrEqual(nameEnd);
});

test("sessions stand by the money they lost, and each opens with its cross-section", async () => {
  const table = page.getByRole("region", { name: "sessions" });
  expect(await table.locator("tbody tr").count()).toBe(2);
  const lost = await table.locator("tbody tr td:nth-child(2)").allInnerTexts();
  expect(lost.map((text) => Number(text.replace("$", "")))).toEqual(
    lost.map((text) => Number(text.replace("$", ""))).toSorted((left, right) => right - left),
  );
  await table.getByRole("link").last().click();
  await page.getByRole("application").waitFor();
  expect(await page.getByRole("application").getAttribute("aria-label")).toContain("5 calls");
  await page.getByRole("combobox").selectOption("tail-5m would have it");
  await expect
    .poll(() => page.locator(".miss").first().innerText())
    .toContain("A pause of 43 min outlived the lifetime");
});

test("shows what a miss did not read as the words they are", async () => {
  const excerpts = page.locator("q.excerpt");
  expect(await excerpts.allTextContents()).toContain(`call 0: ${hostile}`);
  expect(await excerpts.locator("*").count()).toBe(0);
  await page.getByRole("link", { name: "all sessions" }).click();
  await expect
    .poll(() => page.locator("main").innerText())
    .toContain("look at it before you share it");
});

test("runs nothing that came with the data, and asks for nothing outside", async () => {
  expect(await page.title()).toBe(`replay ${hostile}`);
  expect(await page.locator("img").count()).toBe(0);
  expect(problems).toEqual([]);
});

/** As a provider bills a cache that is marked at the end, and lost at the pause. */
function bill(call: number): RecordedUsage {
  const isCold = call === 0 || call === 3;
  return {
    uncachedTokens: 10,
    cacheReadTokens: isCold ? 0 : call * 3000,
    cacheWriteTokens: { "5m": isCold ? (call + 1) * 3000 : 3000 },
    outputTokens: 20,
    reasoningTokens: 0,
  };
}
