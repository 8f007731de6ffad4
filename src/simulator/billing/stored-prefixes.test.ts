import { expect, test } from "vitest";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { createBilling } from "./billing.ts";
import type { Billing } from "./bill.ts";
import type { BillableBlock, BillableRequest } from "./billable-request.ts";

const { facts: model } = resolveModel("gemini-3.1-pro-preview");
const frame = { workspace: "home", model, settings: {} };

function block(hash: string, tokens: number): BillableBlock {
  return { hash, tokens, tier: "messages", run: null, boundary: null };
}

const manual = block("manual", 5_000);

function store(billing: Billing, name: string, startMs: number, lifetimeMs = 1_000): void {
  const times = { startMs, expiresMs: startMs + lifetimeMs };
  billing.stored.add({ ...frame, ...times, name, id: name, blocks: [manual] });
}

function request(startMs: number, more: Partial<BillableRequest> = {}): BillableRequest {
  const blocks = [manual, block("question", 10)];
  return { ...frame, id: "ask", blocks, markers: [], mode: "implicit", startMs, ...more };
}

test("a request reads the stored prefix that it names and begins with", () => {
  const billing = createBilling();
  store(billing, "a", 0);
  const { bill } = billing.open(request(999, { stored: "a" }));
  expect(bill).toMatchObject({
    totalTokens: 5_010,
    readTokens: 5_000,
    uncachedTokens: 10,
    hitBlock: 0,
    reason: { kind: "stored prefix", name: "a", isRead: true },
  });
});

test.each<[string, number, Partial<BillableRequest>]>([
  ["that expired", 1_000, {}],
  ["of another name", 0, { stored: "b" }],
  ["of another workspace", 0, { workspace: "office" }],
  ["of another model", 0, { model: resolveModel("gemini-3.8-flash").facts }],
  ["that it does not begin with", 0, { blocks: [block("other", 5_000)] }],
])("a request reads nothing of a stored prefix %s", (_name, startMs, more) => {
  const billing = createBilling();
  store(billing, "a", 0);
  const { bill } = billing.open(request(startMs, { stored: "a", ...more }));
  expect([bill.readTokens, bill.hitBlock, bill.reason.kind]).toEqual([0, null, "never written"]);
});

test("a request that names one leaves nothing for others, and storing does neither", () => {
  const billing = createBilling();
  store(billing, "a", 0);
  const named = billing.open(request(0, { stored: "a" }));
  named.begin();
  expect(billing.open(request(1)).bill.readTokens).toBe(0);
});

test("what is gone stays gone", () => {
  const { stored, ...billing } = createBilling();
  store({ stored, ...billing }, "a", 0);
  expect(stored.keepUntil("a", 5_000, 1_000)).toBe(false);
  expect(stored.remove("a", 1_000)).toBe(false);
  expect(stored.views(9_000)).toMatchObject([{ state: "expired", billedMs: 1_000 }]);
});

test("of too many, those that ended are dropped first, and live ones stay", () => {
  const billing = createBilling({ entriesMax: 2 });
  store(billing, "short", 0, 10);
  store(billing, "long", 1, 1_000);
  store(billing, "longer", 20, 1_000);
  store(billing, "longest", 30, 1_000);
  expect(billing.stored.views(40).map(({ name }) => name)).toEqual(["long", "longer", "longest"]);
});
