import { expect, test } from "vitest";
import { plotCosts } from "./plot-costs.ts";
import { makeFigures, makePolicy, makeReport } from "./test-kit.ts";

test("bars are as long as their cost, cheapest first", () => {
  expect(widthsOf(plotCosts(makeReport()))).toEqual(["31.250", "100.000"]);
});

test("the limits are lines at their cost", () => {
  const svg = plotCosts(makeReport());
  expect(svg).toContain('<g class="limit"><line x1="25.000%" x2="25.000%"');
  expect(svg).toContain('<g class="limit-warm"><line x1="12.500%" x2="12.500%"');
  expect(svg).toContain(">limit $2.00</text>");
  expect(svg).toContain(">with keep-warm $1.00</text>");
});

test("values are shown as text", () => {
  expect(plotCosts(makeReport())).toContain(">adaptive  $2.50  1.250 × limit</text>");
});

test("what was recorded is a bar of its own, and says when it is of fewer requests", () => {
  const recorded = { ...makeFigures(4), requests: 1200, warmStartTokens: 0 };
  const whole = plotCosts(makeReport({ recorded }));
  expect(widthsOf(whole)).toEqual(["31.250", "100.000", "50.000"]);
  expect(whole).toContain(">recorded  $4.00  2.000 × limit</text>");
  const part = plotCosts(makeReport({ recorded: { ...recorded, requests: 7 } }));
  expect(part).toContain(">recorded, 7 requests  $4.00  2.000 × limit</text>");
});

test("a replay that costs nothing has bars without length", () => {
  const nothing = { costUsd: 0, costPicoUsd: "0", relativeCost: 0 };
  const policies = [makePolicy("none", 0)];
  const svg = plotCosts(makeReport({ limit: nothing, limitWarm: nothing, policies }));
  expect(widthsOf(svg)).toEqual(["0.000"]);
});

function widthsOf(svg: string): readonly (string | undefined)[] {
  return [...svg.matchAll(/<rect [^>]*width="([\d.]+)%"/g)].map(([, width]) => width);
}
