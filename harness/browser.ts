// A real browser from npm, for tests of pages.
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    args: chromium.args,
    executablePath: await chromium.executablePath(),
    headless: true,
  });
}
