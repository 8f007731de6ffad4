// The dashboard in a real browser: what it weighs, how soon it says something, and how it moves with 10,000 calls in view.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../harness/browser.ts";
import { median } from "../harness/measure.ts";
import { atMost, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { buildPage } from "../scripts/build-page.ts";
import { openStage, type Stage } from "./dashboard/stage.ts";

const rounds = 7;
const columns = 10_000;

export const experiment: Experiment = {
  summary:
    "the dashboard: kilobytes, first view against an empty page, frames with 10,000 calls in view",
  options: {
    calls: "calls in the ledger; 100000 by default",
    seconds: "how long calls come live; 60 by default",
  },
  async run(settings) {
    const { progress } = settings;
    const calls = wholeNumber(settings, "calls", 100_000);
    const seconds = wholeNumber(settings, "seconds", 60);
    const folder = mkdtempSync(join(tmpdir(), "strata-bench-dashboard-"));
    const browser = await openBrowser();
    try {
      await buildPage(join(folder, "page"));
      const kilobytes = sizeOf(join(folder, "page")) / 1000;
      progress(`a ledger of ${calls} calls, and a session of ${columns}`);
      const stage = await openStage(join(folder, "ledger.db"), { calls, columns });
      try {
        progress("the first view");
        const first = await firstViews(browser, stage);
        progress("frames");
        const frames = await framesOf(browser, stage);
        progress(`${livePerSecond} calls a second for ${seconds} s`);
        const live = await liveUpdates(browser, stage, seconds);
        return {
          figures: {
            "page kilobytes gzip": kilobytes,
            "empty page ms": first.empty,
            "first view ms": first.now,
            "frame p50 ms": frames.p50,
            "frame p95 ms": frames.p95,
            "frames measured": frames.count,
            "live calls": live.sent,
            "heap MB before": live.heapBefore / 1e6,
            "heap MB after": live.heapAfter / 1e6,
          },
          checks: [
            atMost("page kilobytes gzip", kilobytes, 120),
            atMost("first view above an empty page", first.now - first.empty, 400),
            atMost("cross-section 10,000 calls frame p95", frames.p95, 33),
            exactly("live update: dropped", live.sent - live.seen, 0),
            atMost("live update: heap after over before", live.heapAfter / live.heapBefore, 1.5),
          ],
        };
      } finally {
        await stage.close();
      }
    } finally {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function sizeOf(folder: string): number {
  const files = ["index.html", "page.js", "page.css"];
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);
}

/** From the click to the first sentence, in turn with a page that is nothing but a sentence. */
async function firstViews(
  browser: Browser,
  { url, emptyUrl }: Stage,
): Promise<{ now: number; empty: number }> {
  const [now, empty]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds + 1; round += 1) {
    const pair = [
      await msUntilHeading(browser, emptyUrl),
      await msUntilHeading(browser, `${url}/strata/`),
    ];
    // The first round fills the browser's caches and the server's.
    if (round === 0) continue;
    empty.push(pair[0] ?? 0);
    now.push(pair[1] ?? 0);
  }
  return { now: median(now), empty: median(empty) };
}

async function msUntilHeading(browser: Browser, url: string): Promise<number> {
  return withPage(browser, async (page) => {
    const start = performance.now();
    await page.goto(url);
    await page.locator("h1").waitFor();
    return performance.now() - start;
  });
}

/** The time between two pictures on the screen while the session is zoomed and moved through. */
async function framesOf(
  browser: Browser,
  { url }: Stage,
): Promise<{ p50: number; p95: number; count: number }> {
  return withPage(browser, async (page) => {
    await page.goto(`${url}/strata/#/session/long`);
    const plot = page.getByRole("application");
    await plot.waitFor();
    await plot.focus();
    const gaps = await page.evaluate<number[]>(`new Promise((resolve) => {
      const plot = document.querySelector("[role=application]");
      const keys = ["+", "+", "End", "PageUp", "-", "Home", "PageDown", "PageDown", "-", "0"];
      const press = (key) => plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      const gaps = [];
      let before = 0;
      const step = (now) => {
        if (before > 0) gaps.push(now - before);
        before = now;
        if (gaps.length >= 240) return resolve(gaps);
        press(keys[gaps.length % keys.length]);
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    })`);
    const sorted = gaps.toSorted((left, right) => left - right);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? NaN;
    return { p50: at(0.5), p95: at(0.95), count: gaps.length };
  });
}

const livePerSecond = 50;

/** Calls come while the first view is open. It shows them, and a listener beside it counts what came over the stream. */
async function liveUpdates(
  browser: Browser,
  stage: Stage,
  seconds: number,
): Promise<{ sent: number; seen: number; heapBefore: number; heapAfter: number }> {
  return withPage(browser, async (page) => {
    await page.goto(`${stage.url}/strata/`);
    await page.locator("h1").waitFor();
    await page.evaluate(`new Promise((resolve) => {
      window.seenCalls = 0;
      const source = new EventSource("/strata/v1/events/stream?types=gateway.call");
      source.addEventListener("message", () => { window.seenCalls += 1; });
      source.addEventListener("open", resolve);
    })`);
    const cdp = await page.context().newCDPSession(page);
    const heap = async (): Promise<number> => {
      await cdp.send("HeapProfiler.collectGarbage");
      const { usedSize } = await cdp.send("Runtime.getHeapUsage");
      return usedSize;
    };
    await setTimeout(2000);
    const heapBefore = await heap();
    let sent = 0;
    const start = performance.now();
    while (performance.now() - start < seconds * 1000) {
      await stage.record(sent + 1, livePerSecond / 10);
      sent += livePerSecond / 10;
      const due = (sent / livePerSecond) * 1000;
      await setTimeout(Math.max(0, due - (performance.now() - start)));
    }
    await page
      .waitForFunction(`window.seenCalls >= ${sent}`, undefined, { timeout: 30_000 })
      .catch(() => {});
    const seen = await page.evaluate<number>("window.seenCalls");
    return { sent, seen, heapBefore, heapAfter: await heap() };
  });
}

async function withPage<T>(browser: Browser, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({
    viewport: { width: 1600, height: 1000 },
    locale: "en-GB",
  });
  try {
    return await work(await context.newPage());
  } finally {
    await context.close();
  }
}
