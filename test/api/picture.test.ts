// Goal: the cross-section of a session is what was recorded of it. Method: calls of a gateway and of an engine, asked over HTTP.
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { block, gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi } from "./kit.ts";

const tools = { ...block("tool Bash"), tier: "T0" } as const;
const more = { ...block("tool Read"), tier: "T0" } as const;

test("calls of the gateway are columns: what each kept of the prompt before, added and paid", async () => {
  const store = join(newFolder(), "ledger.db");
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([
      gatewayCall("talk", 1, { addedBlocks: [tools, more, block("user message 1")] }),
      gatewayCall("talk", 2, {
        keptBlocks: 3,
        addedBlocks: [block("tool Bash result"), block("user message 2")],
        markers: [{ block: 4, lifetime: "1h" }],
      }),
      gatewayCall("talk", 3, {
        keptBlocks: 2,
        addedBlocks: [block("user message 1, changed")],
        explanation: { ...missed({}), lostTokens: 900 },
      }),
      // Other tools below the same text.
      gatewayCall("talk", 4, {
        addedBlocks: [more, tools, block("user message 1, changed")],
        otherPolicies: [
          { policy: "tail-5m", costPicoUsd: 4_000_000_000n },
          { policy: "tail-1h", costPicoUsd: 6_000_000_000n },
        ],
        costPicoUsd: 5_000_000_000n,
      }),
      gatewayCall("worker", 1, {}, { parentId: "talk", kind: "sub-agent" }),
    ]);
  });
  const api = await openTestApi(store);
  const { body } = await api.get("/sessions/talk/picture");
  expect(body).toMatchObject({
    left_out_count: 0,
    data: {
      session: "talk",
      agent: "claude-code",
      parent_session: null,
      client_session: "5f0c",
      children: [
        {
          session: "worker",
          agent: "claude-code",
          kind: "sub-agent",
          call_count: 1,
          calls: [{ prompt_tokens: 117, read_tokens: 100 }],
        },
      ],
      compared: { policy: "tail-5m", cost_usd: "0.004000", paid_usd: "0.005000", call_count: 1 },
      calls: [
        {
          number: 1,
          kept_tokens: 0,
          added: [
            { tier: "T0", section: "tools", tokens: 80 },
            { tier: "T3", section: "user message 1", tokens: 40 },
          ],
          read_tokens: 100,
          written_tokens: { "5m": 7 },
          uncached_tokens: 10,
          dollars: { read_usd: "0.000020", written_usd: "0.000018", output_usd: "0.000200" },
          markers: [{ at_tokens: 40, lifetime: "5m", reason: null }],
          miss: null,
        },
        {
          number: 2,
          kept_tokens: 120,
          added: [
            { tier: "T3", section: "tool Bash result", tokens: 40 },
            { tier: "T3", section: "user message 2", tokens: 40 },
          ],
          markers: [{ at_tokens: 200, lifetime: "1h" }],
        },
        {
          number: 3,
          kept_tokens: 80,
          added: [{ section: "user message 1, changed" }],
          miss: { cause: "history rewritten", lost_tokens: 900 },
          compared_usd: null,
        },
        {
          number: 4,
          kept_tokens: 0,
          added: [
            { section: "tools", since: 4 },
            { section: "user message 1, changed", since: 3 },
          ],
          compared_usd: "0.004000",
        },
      ],
    },
  });
});

test("calls of turns are columns by tier, and a key of the gateway sees none of them", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const api = await openTestApi(store);
  expect(await api.get("/sessions/build/picture")).toMatchObject({
    status: 200,
    body: { data: { session: "build", calls: expect.any(Array) } },
  });
  expect(await api.get("/sessions/nowhere/picture")).toMatchObject({
    status: 404,
    body: { error: { code: "session_not_found" } },
  });
  const ofKey = await openTestApi(store, { keyOf: () => "team-a" });
  expect(await ofKey.get("/sessions/build/picture")).toMatchObject({ status: 404 });
});

test("a key of the gateway sees the calls that it paid for, and no others", async () => {
  const store = join(newFolder(), "ledger.db");
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([
      gatewayCall("talk", 1, { gatewayKey: "team-a" }),
      gatewayCall("talk", 2, { gatewayKey: "team-b" }),
    ]);
  });
  const api = await openTestApi(store, { keyOf: () => "team-a" });
  const { body } = await api.get("/sessions/talk/picture");
  expect(body).toMatchObject({ data: { calls: [{ started_at: "2026-11-16T00:00:01.000Z" }] } });
  expect(body).toHaveProperty("data.calls.length", 1);
});
