// A real browser from npm, for tests of pages.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    // In a single process the browser ends with the first context that is closed.
    args: chromium.args.filter((each) => each !== "--single-process"),
    executablePath: await unpack(),
    headless: true,
  });
}

/** Processes that start together share the folder for temporary files: one unpacks, the others wait, because a file that is being written cannot be run. */
async function unpack(): Promise<string> {
  const lock = join(tmpdir(), "strata-browser");
  const ready = join(lock, "ready");
  if (takeLock(lock)) {
    const path = await chromium.executablePath();
    writeFileSync(ready, "");
    return path;
  }
  for (let waitedMs = 0; !existsSync(ready); waitedMs += pollMs) {
    // The process that began has ended.
    if (waitedMs >= patienceMs) break;
    await setTimeout(pollMs);
  }
  return chromium.executablePath();
}

function takeLock(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

const pollMs = 25;
const patienceMs = 60_000;
