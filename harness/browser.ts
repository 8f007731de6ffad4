// A real browser from npm, for tests of pages.
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    // In a single process the browser ends with the first context that is closed.
    args: chromium.args.filter((each) => each !== "--single-process"),
    executablePath: await chromium.executablePath(),
    headless: true,
  });
}
