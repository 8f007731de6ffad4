import { describe, expect, test } from "vitest";
import { analyticsCodeOf } from "./analytics-error.ts";
import { parseWindow, toIso } from "./time-window.ts";

const nowMs = Date.UTC(2026, 10, 16, 9, 30);

function spelled(query: { readonly from?: string; readonly to?: string }): string {
  const { startMs, endMs } = parseWindow(query, nowMs);
  return `${toIso(startMs)} ${toIso(endMs)}`;
}

describe("a window", () => {
  test("is the last seven days by default (D-11)", () => {
    expect(spelled({})).toBe("2026-11-09T09:30:00.000Z 2026-11-16T09:30:00.000Z");
  });

  test("is completed where one end is given", () => {
    expect(spelled({ from: "2026-11-01" })).toBe(
      "2026-11-01T00:00:00.000Z 2026-11-16T09:30:00.000Z",
    );
    expect(spelled({ to: "2026-11-08" })).toBe("2026-11-01T00:00:00.000Z 2026-11-08T00:00:00.000Z");
  });

  test("takes times (UTC without a zone) and ages", () => {
    expect(spelled({ from: "2026-11-15T10:00", to: "2026-11-15T14:00:30.5+02:00" })).toBe(
      "2026-11-15T10:00:00.000Z 2026-11-15T12:00:30.500Z",
    );
    expect(spelled({ from: "24h", to: "30m" })).toBe(
      "2026-11-15T09:30:00.000Z 2026-11-16T09:00:00.000Z",
    );
  });

  test("begins in 1970 at the earliest", () => {
    for (const from of ["0000-01-01", "0001-01-01T00:00Z", "1969-12-31", "999999w"]) {
      expect(spelled({ from })).toBe("1970-01-01T00:00:00.000Z 2026-11-16T09:30:00.000Z");
    }
    expect(spelled({ to: "1970-01-02" })).toBe("1970-01-01T00:00:00.000Z 1970-01-02T00:00:00.000Z");
  });

  test.each([
    { from: "0000-01-01", to: "1969-01-01" },
    { from: "yesterday" },
    { from: "2026-02-30" },
    { from: "2026-11-15T25:00" },
    { from: "0d" },
    { from: "" },
    { to: "2026-11-15 10:00" },
    { from: "2026-11-16", to: "2026-11-16" },
    { from: "2026-11-17" },
  ])("is refused where it is none: %o", (query) => {
    let code: string | null = "taken";
    try {
      parseWindow(query, nowMs);
    } catch (error) {
      code = analyticsCodeOf(error);
    }
    expect(code).toBe("invalid_time_window");
  });
});
