// Which conversations are optimised: the settings' shares, by the name of the conversation alone.
import { expect, test } from "vitest";
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import { protocols } from "../../core/wire/protocols.ts";
import { BodyBytes } from "../observe/body-bytes.ts";
import type { CallToSend, SentCall } from "../observe/call-rewriter.ts";
import { beginConversation } from "../observe/conversation.ts";
import { readMarks } from "../observe/client-marks.ts";
import { readBody } from "../observe/read-body.ts";
import type { OptimizeSettings } from "./may-mark.ts";
import { createOptimizer } from "./optimizer.ts";

const usual: OptimizeSettings = {
  share: 100,
  holdout: 10,
  upstreams: [],
  clients: [],
  logins: false,
  repairs: [],
  fanOutMs: 0,
  diagnose: false,
  keepWarm: { usdPerHour: null, logins: false },
};

const start: CallToSend["start"] = {
  id: "1",
  startMs: 0,
  method: "POST",
  path: "/v1/messages",
  headers: {},
  upstream: "house",
  account: "",
};

function armsOf(
  settings: Partial<OptimizeSettings>,
  names: readonly { readonly id: string; readonly parentId?: string }[],
): readonly SentCall["arm"][] {
  const optimizer = createOptimizer({
    settings: { ...usual, ...settings },
    catalogue: builtInCatalogue,
    isVendor: () => true,
  });
  const bytes = new BodyBytes([Buffer.from('{"model":"m","messages":[]}')]);
  const document = readBody({
    bytes,
    prints: [],
    address: start,
    rows: protocols,
    before: [],
    isVendor: () => true,
  });
  if (document === null) throw new Error("the body is a model call");
  return names.map(({ id, parentId = null }) => {
    const { request } = document;
    const call = { tenant: "", marks: readMarks({}), request, model: "m", nowMs: 0 };
    const conversation = beginConversation(call, { id, parentId, role: "own" });
    const found = { conversation, branch: null, goesOn: false };
    const { marks } = call;
    const sent = { start, tenant: "", marks, document, found, facts: null, isUnsure: false };
    return optimizer.prepare(sent).arm;
  });
}

const names = Array.from({ length: 4000 }, (_, at) => ({ id: `conversation ${at}` }));

function shareOf(arms: readonly SentCall["arm"][], arm: SentCall["arm"]): number {
  return arms.filter((each) => each === arm).length / arms.length;
}

test("half of the conversations, and a tenth of those held out, are what was asked for", () => {
  const arms = armsOf({ share: 50 }, names);
  expect(shareOf(arms, "client")).toBeCloseTo(0.5, 1);
  expect(shareOf(arms, "strata")).toBeCloseTo(0.45, 1);
  expect(shareOf(arms, "holdout")).toBeGreaterThan(0.04);
  expect(shareOf(arms, "holdout")).toBeLessThan(0.06);
});

test("without holdouts all are optimised", () => {
  expect(shareOf(armsOf({ holdout: 0 }, names), "strata")).toBe(1);
});

test("a conversation stays in its arm, and its sub-agents are in it, too", () => {
  const family = names.map(({ id }) => ({ id: `agent of ${id}`, parentId: id }));
  expect(armsOf({ share: 50 }, names)).toEqual(armsOf({ share: 50 }, family));
});
