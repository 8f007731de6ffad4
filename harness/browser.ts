// A real browser for tests of pages: it comes with npm, and stays on this machine.
import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

export async function openBrowser(): Promise<Browser> {
  return playwright.launch({
    args: chromium.args,
    executablePath: await chromium.executablePath(),
    headless: true,
  });
}
