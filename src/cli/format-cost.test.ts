import { expect, test } from "vitest";
import { formatCost, formatShortCost } from "./format-cost.ts";

test("a cost that is not known is not shown as nothing", () => {
  expect(formatCost(12_300_000_000n, 0)).toBe("$0.0123");
  expect(formatCost(12_300_000_000n, 2)).toBe("≥ $0.0123, 2 calls without a price");
  expect(formatCost(0n, 1)).toBe("unknown: 1 call without a price");
  expect(formatCost(0n, 0)).toBe("$0.0000");
  expect(formatShortCost(0n, 3)).toBe("unknown");
  expect(formatShortCost(5n * 10n ** 9n, 1, 6)).toBe("≥ $0.005000");
});
