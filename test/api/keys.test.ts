// Goal: a virtual key sees its own rows and nothing of others, also where sums are stored and a conversation is shared. Method: two keys in one ledger, each route asked as each.
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { routes } from "../../src/api/routes/routes.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { block, gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi, type TestApi } from "./kit.ts";

const closers: (() => Promise<void> | void)[] = [];
const atEnd = (close: () => Promise<void> | void): void => void closers.push(close);
const november = "from=2026-11-01&to=2026-11-18";
const [asAna, asBen] = [{ authorization: "Bearer of-ana" }, { authorization: "Bearer of-ben" }];

let api: TestApi;
/** A ledger with the calls of Ana's only. */
let alone: TestApi;

const ofAna = { gatewayKey: "ana", user: "ana", team: "red" } as const;
const ofBen = { gatewayKey: "ben", user: "ben", team: "blue" } as const;

function callsOf(names: readonly string[]): readonly GatewayCall[] {
  const cost = { costPicoUsd: 7_000_000n, model: "claude-haiku-4-5", factsId: "claude-haiku-4-5" };
  const arm = { arm: "strata", clientCostPicoUsd: 9_000_000n } as const;
  return [
    gatewayCall("of-ana", 1, {
      ...ofAna,
      ...arm,
      tiers: [["T3", 80]],
      addedBlocks: [block("ana")],
    }),
    gatewayCall("of-ana", 2, { ...ofAna, keptBlocks: 1, explanation: missed({}) }),
    gatewayCall("of-ben", 1, { ...ofBen, ...cost, ...arm, tiers: [["T0", 40]] }),
    gatewayCall("of-ben", 2, { ...ofBen, ...cost, keptBlocks: 0, explanation: missed({}) }),
    gatewayCall("shared", 1, { ...ofAna, addedBlocks: [block("first")] }),
    gatewayCall("shared", 2, { ...ofBen, ...cost, explanation: missed({}), keptBlocks: 1 }),
    gatewayCall("sub-of-shared", 1, { ...ofBen, ...cost }, { parentId: "shared" }),
    gatewayCall("sub-of-other", 1, { ...ofAna }, { parentId: "of-ben", kind: "sub-agent" }),
  ].filter(({ gatewayKey }) => names.includes(gatewayKey ?? ""));
}

async function openWith(names: readonly string[]): Promise<TestApi> {
  const store = join(newFolder(atEnd), "ledger.db");
  await makeExample(store);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls(callsOf(names));
    await ledger.catchUp();
  });
  return openTestApi(store, { keyOf }, atEnd);
}

function keyOf({ authorization = "" }: IncomingHttpHeaders): string | null {
  return /^Bearer of-(\w+)$/.exec(authorization)?.[1] ?? null;
}

beforeAll(async () => {
  api = await openWith(["ana", "ben"]);
  alone = await openWith(["ana"]);
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

const shown = routes.filter(({ isForKeys, name }) => isForKeys === true && name !== "me");

test("a key may ask the analyses that can be told apart by key, and for its sessions and calls", () => {
  expect(shown.map(({ name }) => name).toSorted()).toEqual(
    ["cache_effectiveness", "call", "call_list", "cost", "misses", "savings", "session"].concat([
      "session_calls",
      "session_list",
      "session_picture",
      "sessions",
    ]),
  );
});

test("by every group, a key's answer is that of a ledger without any other's calls", async () => {
  for (const { name, path, values } of shown) {
    for (const group of values?.group_by ?? []) {
      const asked = `${path}?${november}&group_by=${group}`;
      const [told, wanted] = [await api.get(asked, asAna), await alone.get(asked, asAna)];
      expect([name, group, told.status]).toEqual([name, group, 200]);
      expect(told.body).toEqual(wanted.body);
    }
  }
  expect((await api.get(`/analytics/cost?${november}&group_by=none`, asAna)).body).toMatchObject({
    data: [{ call_count: 4, cost_usd: "0.000000" }],
  });
  expect((await api.get(`/analytics/cost?${november}&group_by=none`, asBen)).body).toMatchObject({
    data: [{ call_count: 4, cost_usd: "0.000028" }],
  });
  expect((await api.get(`/analytics/misses?${november}&group_by=none`, asBen)).body).toMatchObject({
    data: [{ miss_count: 2, session_count: 2 }],
  });
});

test("the lists of a key hold its own sessions and calls, with its own sums, page by page", async () => {
  for (const path of [`/sessions?${november}`, `/calls?${november}`]) {
    const told = await api.get(path, asAna);
    expect(told.body).toEqual((await alone.get(path, asAna)).body);
    expect(JSON.stringify(told.body)).not.toMatch(/of-ben|haiku|build/);
  }
  const { data, next_cursor: next } = (await api.get(`/sessions?${november}&limit=1`, asBen))
    .body as { readonly data: readonly object[]; readonly next_cursor: string };
  const rest = await api.get(`/sessions?${november}&cursor=${next}`, asBen);
  expect([...data, ...(rest.body as { readonly data: readonly object[] }).data]).toMatchObject([
    { session: "shared", cost_usd: "0.000007", model: "claude-haiku-4-5", parent_session: null },
    { session: "of-ben", cost_usd: "0.000014" },
    { session: "sub-of-shared", cost_usd: "0.000007", parent_session: "shared" },
  ]);
});

test("of a shared session a key sees its own calls, and one of another's is not there", async () => {
  expect((await api.get("/sessions/shared", asAna)).body).toMatchObject({
    data: {
      call_count: 1,
      miss_count: 0,
      sub_sessions: [],
      cost_usd: "0.000000",
      model: "claude-sonnet-5",
      latest_call: { call: "shared-1", gateway_key: "ana" },
    },
  });
  expect((await api.get("/sessions/shared", asBen)).body).toMatchObject({
    data: { call_count: 1, miss_count: 1, sub_sessions: ["sub-of-shared"] },
  });
  expect((await api.get("/sessions/shared/calls", asAna)).body).toMatchObject({
    data: [{ call: "shared-1" }],
    next_cursor: null,
  });
  expect((await api.get("/sessions/shared/calls/shared-1", asAna)).status).toBe(200);
  for (const [path, code] of [
    ["/sessions/shared/calls/shared-2", "call_not_found"],
    ["/sessions/of-ben", "session_not_found"],
    ["/sessions/of-ben/calls", "session_not_found"],
    ["/sessions/of-ben/calls/of-ben-1", "session_not_found"],
    ["/sessions/of-ben/picture", "session_not_found"],
    ["/sessions/build", "session_not_found"],
    ["/sessions/build/calls/turn-1.1", "session_not_found"],
  ]) {
    expect((await api.get(path ?? "", asAna)).body).toMatchObject({ error: { code } });
  }
  expect((await api.get(`/calls?${november}&session=of-ben`, asAna)).body).toMatchObject({
    data: [],
  });
});
