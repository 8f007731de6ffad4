import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatUsd,
  formatUsdRounded,
  toUsdDecimal,
  parseUsdPerMTok,
  timesDecimal,
  toUsdPerMTok,
} from "./pico-usd.ts";

test("a price is read to the last digit, from a number or a text", () => {
  expect(parseUsdPerMTok(0.1, "price")).toBe(100_000n);
  expect(parseUsdPerMTok("0.10", "price")).toBe(100_000n);
  expect(parseUsdPerMTok(0.003625, "price")).toBe(3625n);
  expect(parseUsdPerMTok("0.000001", "price")).toBe(1n);
  expect(parseUsdPerMTok(150, "price")).toBe(150_000_000n);
  expect(parseUsdPerMTok("1.2500000000", "price")).toBe(1_250_000n);
});

test.each([
  -1,
  Number.NaN,
  Infinity,
  0.0000001,
  "0.0000001",
  "1,5",
  "$5",
  "",
  "1e3",
  null,
  undefined,
])("%j is no price", (value) => {
  expect(() => parseUsdPerMTok(value, "claude-x.input")).toThrowError(
    /claude-x\.input is .* but must be dollars per million tokens/,
  );
});

test("a rate is written as vendors write it, and read back the same", () => {
  expect(toUsdPerMTok(100_000n)).toBe("0.1");
  expect(toUsdPerMTok(12_500_000n)).toBe("12.5");
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 12n }), (pico) => {
      expect(parseUsdPerMTok(toUsdPerMTok(pico), "price")).toBe(pico);
    }),
  );
});

test("a decimal factor is exact, or there is no product", () => {
  expect(timesDecimal(100_000n, 1.1)).toBe(110_000n);
  expect(timesDecimal(3n, 1.5)).toBeNull();
  expect(timesDecimal(2n, "1.5")).toBe(3n);
});

test("money is formatted exactly", () => {
  expect(formatUsd(0n)).toBe("$0");
  expect(formatUsd(1n)).toBe("$0.000000000001");
  expect(formatUsd(12_500_000_000_000n)).toBe("$12.5");
  expect(formatUsd(-4_500_000_000_000n)).toBe("-$4.5");
});

test("money for people is rounded half away from zero", () => {
  expect(formatUsdRounded(1_234_550_000_000n, 4)).toBe("$1.2346");
  expect(formatUsdRounded(1_234_549_999_999n, 4)).toBe("$1.2345");
  expect(formatUsdRounded(-1_234_550_000_000n, 4)).toBe("-$1.2346");
  expect(formatUsdRounded(-1n)).toBe("$0.0000");
  expect(formatUsdRounded(999_960_000_000n, 2)).toBe("$1.00");
  expect(formatUsdRounded(1_500_000_000_000n, 0)).toBe("$2");
});

test("money for people is written one way: four digits below a dollar, two from there, and commas", () => {
  expect(formatUsdRounded(12_345_678_000n)).toBe("$0.0123");
  expect(formatUsdRounded(999_949_999_999n)).toBe("$0.9999");
  expect(formatUsdRounded(999_950_000_000n)).toBe("$1.00");
  expect(formatUsdRounded(1_402_380_000_000_000n)).toBe("$1,402.38");
  expect(formatUsdRounded(-1_234_567_890_000_000_000n)).toBe("-$1,234,567.89");
  expect(formatUsdRounded(1_402_380_000_000_000n, 0)).toBe("$1,402");
  expect(toUsdDecimal(-1_402_380_000_000_000n, 6)).toBe("-1402.380000");
});

test.each([-1, 13, 1.5, Number.NaN])(
  "money with %d decimals is refused, not miscounted",
  (decimals) => {
    expect(() => formatUsdRounded(1n, decimals)).toThrowError(
      expect.objectContaining({
        code: "input-invalid",
        message: `${decimals} is not a valid number of decimals`,
      }),
    );
  },
);

test("money can be shown with no decimal and with all twelve", () => {
  expect(formatUsdRounded(1n, 12)).toBe("$0.000000000001");
  expect(formatUsdRounded(499_999_999_999n, 0)).toBe("$0");
});
