// Goal: the cross-section shows what was read, written and missed, where it was. Method: pixels and keys in a real browser.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../../harness/browser.ts";
import { block, gatewayCall } from "../ledger/gateway-kit.ts";
import { look, openDashboard, someCalls } from "./kit.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
});

test("the picture is walked through by keys alone, from miss to miss with shift", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/session/talk`);
  const plot = page.getByRole("application");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  expect(new URL(page.url()).hash).toBe("#/session/talk?call=2");
  await page.keyboard.press("Shift+ArrowRight");
  expect(new URL(page.url()).hash).toBe("#/session/talk?call=3");
  expect(await page.locator("#chosen-call").innerText()).toContain("The tool list changed");
  await page.keyboard.press("Escape");
  expect(new URL(page.url()).hash).toBe("#/session/talk");
});

test("the picture has the colours of what was read and written, where it was", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/session/talk`);
  await page.getByRole("application").waitFor();
  // The middle of columns of the five: just above the axis, or halfway up.
  const colours = await page.evaluate<string[]>(`(() => {
    const canvas = document.querySelector("canvas.prompts");
    const at = (column, share) => {
      const left = 58 + ((canvas.width - 66) * (column + 0.5)) / 5;
      const top = canvas.height - 28 - (canvas.height - 64) * share;
      return [...canvas.getContext("2d").getImageData(left, top, 1, 1).data.slice(0, 3)].join();
    };
    return [at(0, 0.05), at(2, 0.5), at(3, 0.05), at(3, 0.5)];
  })()`);
  const [written, missed, tools, history] = colours;
  expect(written).toBe("224,138,30");
  expect(missed).toBe("224,138,30");
  expect(tools).toBe("93,103,112");
  expect(history).not.toBe(missed);
});

test("what is said at the pointer glides, and for people who asked for less motion it does not", async () => {
  const { url } = await openDashboard({ calls: someCalls() });
  const { page } = await look(browser);
  const glideOf = async (reducedMotion: "reduce" | "no-preference"): Promise<string> => {
    await page.emulateMedia({ reducedMotion });
    await page.goto(`${url}/strata/#/session/talk`);
    await page.getByRole("application").hover();
    await page.locator(".tip").waitFor();
    return page.evaluate<string>(
      `getComputedStyle(document.querySelector(".tip")).transitionDuration`,
    );
  };
  expect(await glideOf("no-preference")).toBe("0.06s");
  expect(await glideOf("reduce")).toBe("0s");
});

test("a picture that was moved is the one that is painted anew at that place", async () => {
  const calls = Array.from({ length: 300 }, (_, index) =>
    gatewayCall("long", index + 1, {
      keptBlocks: index % 40 === 0 ? 1 : (index % 40) * 2,
      addedBlocks: [
        { ...block(`result ${index}`), tokens: 300 + (index % 7) * 150 },
        { ...block(`reply ${index}`), tokens: 90 },
      ],
      usage: {
        uncachedTokens: 12,
        cacheReadTokens: (index % 40) * 700,
        cacheWriteTokens: { "5m": 500, "1h": index % 9 === 0 ? 200 : 0 },
        outputTokens: 50,
        reasoningTokens: 0,
      },
    }),
  );
  const { url } = await openDashboard({ calls });
  const { page } = await look(browser);
  await page.goto(`${url}/strata/#/session/long`);
  await page.getByRole("application").focus();
  const whole = await pixels(page);
  for (const key of ["+", "+", "End", "PageUp", "PageUp", "PageUp", "PageUp", "PageUp", "PageUp"])
    await page.keyboard.press(key);
  for (let moves = 0; moves < 3; moves += 1) {
    await page.keyboard.press("PageUp");
    await page.keyboard.press("PageUp");
    await page.keyboard.press("PageDown");
  }
  const moved = await pixels(page);
  expect(moved).not.toBe(whole);
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(() => pixels(page)).not.toBe(moved);
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => pixels(page)).toBe(moved);
});

/** Once it is painted. */
function pixels(page: Page): Promise<string> {
  return page.evaluate<string>(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
    const canvas = document.querySelector("canvas.prompts");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    crypto.subtle.digest("SHA-256", data).then((hash) => resolve(new Uint8Array(hash).join()));
  })))`);
}
