// Goal: what the gateway and our own sessions recorded can be found, paged through and looked into. Method: a ledger with a conversation that grew, missed and was compacted.
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { inLedger } from "../gateway-record/kit.ts";
import { block, gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { newFolder, openTestApi, type TestApi } from "./kit.ts";

let api: TestApi;
const closers: (() => Promise<void> | void)[] = [];
const november = "from=2026-11-01&to=2026-11-18";

beforeAll(async () => {
  const store = join(
    newFolder((close) => closers.push(close)),
    "ledger.db",
  );
  await makeExample(store);
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([
      gatewayCall("talk", 1, {
        addedBlocks: [block("tool Bash"), block("user message 1")],
        tiers: [["T3", 80]],
      }),
      gatewayCall("talk", 2, { keptBlocks: 2, addedBlocks: [block("user message 2")] }),
      gatewayCall("talk", 3, {
        keptBlocks: 1,
        addedBlocks: [block("user message 1, changed"), block("user message 3")],
        explanation: missed({ after: "secret words" }),
        otherPolicies: [{ policy: "tail-5m", costPicoUsd: 4_000_000n }],
      }),
      gatewayCall("side", 1, {}, { parentId: "talk", kind: "sub-agent" }),
    ]);
  });
  api = await openTestApi(store, {}, (close) => closers.push(close));
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
});

interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

async function pageOf(path: string): Promise<Page> {
  const { status, body } = await api.get(path);
  expect([path, status]).toEqual([path, 200]);
  return body as Page;
}

async function names(query: string): Promise<unknown> {
  const { data } = await pageOf(`/sessions?${november}&${query}`);
  return data.map(({ session }) => session);
}

/** Everything, page by page. */
async function all(path: string, limit: number): Promise<Page["data"]> {
  const found: Page["data"][number][] = [];
  for (let cursor = ""; ;) {
    const page = await pageOf(`${path}&limit=${limit}${cursor}`);
    expect(page.data.length).toBeLessThanOrEqual(limit);
    found.push(...page.data);
    if (page.next_cursor === null) return found;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

test("sessions are found by words in their name, program, model or context, and by who started them", async () => {
  expect(await names("")).toEqual(expect.arrayContaining(["build", "worker", "talk", "side"]));
  expect(await names("search=CLAUDE-code+5f0c")).toEqual(["side", "talk"].toSorted().toReversed());
  expect(await names("search=look+around")).toEqual(["worker"]);
  expect(await names("search=100%25")).toEqual([]);
  expect(await names("parent=talk")).toEqual(["side"]);
  expect(await names("origin=engine&agent=coder")).toEqual(
    expect.arrayContaining(["build", "worker"]),
  );
  expect(await names("origin=gateway&search=side")).toEqual(["side"]);
});

test("pages of any size hold the same rows as one page", async () => {
  for (const path of [`/sessions?${november}`, `/calls?${november}`, "/sessions/talk/calls?"]) {
    const whole = (await pageOf(path)).data;
    for (const limit of [1, 2, 3]) expect(await all(path, limit)).toEqual(whole);
    expect(whole.length).toBeGreaterThan(2);
  }
  expect((await pageOf(`/calls?${november}&session=talk`)).data).toHaveLength(3);
  expect((await pageOf(`/calls?${november}&agent=claude-code`)).data).toHaveLength(4);
  expect((await pageOf(`/calls?${november}&model=claude-x`)).data).toHaveLength(7);
});

test("a session says what fills its window", async () => {
  const { body } = await api.get("/sessions/talk");
  expect(body).toMatchObject({
    data: {
      session: "talk",
      origin: "gateway",
      agent: "claude-code",
      kind: "conversation",
      client_session: "5f0c",
      call_count: 3,
      miss_count: 1,
      sub_sessions: ["side"],
      latest_call: { call: "talk-3", cached_input_tokens: 100 },
    },
  });
  expect((await api.get("/sessions/build")).body).toMatchObject({
    data: { turn_count: 3, compaction_count: 1, window_tokens: null },
  });
});

test("the columns of a cross-section say what each call kept and brought", async () => {
  const seen = (await pageOf("/sessions/talk/calls")).data;
  expect(seen).toMatchObject([
    { number: 1, kept_blocks: 0, added_blocks: [{ section: "tool Bash", tokens: 40 }, {}] },
    { number: 2, kept_blocks: 2, added_blocks: [{ section: "user message 2" }] },
    { number: 3, kept_blocks: 1, added_blocks: [{}, {}], miss: { lost_tokens: 900, byte: 12 } },
  ]);
  const own = (await pageOf("/sessions/build/calls")).data;
  expect(own).toHaveLength(7);
  expect(own).toEqual(
    expect.arrayContaining(
      [
        { call: "turn-1.1", kept_blocks: null, roles: ["user", "assistant"] },
        { call: "turn-1.2", kept_blocks: null, roles: ["tool", "assistant"] },
      ].map(({ roles, ...call }) =>
        expect.objectContaining({
          ...call,
          added_blocks: roles.map((role) => expect.objectContaining({ role }) as unknown),
        }),
      ),
    ),
  );
});

test("one call is split over its blocks as it was billed", async () => {
  const { body } = await api.get("/sessions/talk/calls/talk-3");
  expect(body).toMatchObject({
    data: {
      call: "talk-3",
      number: 3,
      cost_usd: "0.000000",
      unknown_blocks: 0,
      blocks: [
        { section: "tool Bash", read_tokens: 39, written_tokens: 0, fresh_tokens: 0 },
        { section: "user message 1, changed", read_tokens: 39 },
        { section: "user message 3", read_tokens: 22, written_tokens: 7, fresh_tokens: 10 },
      ],
      markers: [{ block: 0, lifetime: "5m", slot: null }],
      miss: {
        cause: "history rewritten",
        section: "user message 3",
        lost_cost_usd: "0.002430",
        advice: "Append to the history.",
      },
      other_policies: [{ policy: "tail-5m", cost_usd: "0.000004" }],
      keeps_content: false,
    },
  });
  expect(JSON.stringify(body)).not.toContain("secret words");
  const own = await api.get("/sessions/build/calls/turn-1.2");
  expect(own.body).toMatchObject({
    data: { turn: "turn-1", number: 2, policy: "adaptive", expected_read_tokens: 0 },
  });
});

test.each([
  ["/sessions/nowhere", "session_not_found"],
  ["/sessions/nowhere/calls", "session_not_found"],
  ["/sessions/talk/calls/nothing", "call_not_found"],
  ["/sessions/talk/calls/turn-1.1", "call_not_found"],
  ["/sessions/%ff/calls", "invalid_parameter"],
  ["/calls?cursor=zz", "invalid_cursor"],
  ["/calls?cursor=MQ", "invalid_cursor"],
  ["/sessions?origin=moon", "invalid_parameter"],
  ["/sessions?search=a+b+c+d+e+f+g+h+i", "invalid_parameter"],
])("%s is refused: %s", async (path, code) => {
  expect((await api.get(path)).body).toMatchObject({ error: { code } });
});

test("misses and compactions are listed one by one, with what would have avoided them", async () => {
  expect(await pageOf(`/misses?${november}`)).toMatchObject({
    data: [
      {
        session: "talk",
        call: "talk-3",
        cause: "history rewritten",
        section: "user message 3",
        byte: 12,
        lost_tokens: 900,
        lost_cost_usd: "0.00243",
        advice: expect.stringContaining("Append to the history") as unknown,
      },
    ],
    next_cursor: null,
  });
  expect((await pageOf(`/misses?${november}&cause=tools+changed`)).data).toEqual([]);
  expect(
    (await pageOf(`/misses?${november}&cause=history+rewritten&session=talk`)).data,
  ).toHaveLength(1);
  expect((await api.get("/misses?cause=moon")).body).toMatchObject({
    error: { code: "invalid_parameter" },
  });
  expect((await pageOf(`/compactions?${november}&session=build`)).data).toMatchObject([
    { turn: "compaction-1", turns_summarized: 2, tokens_before: 4000, cost_usd: "0.030000" },
  ]);
});

test("models are listed with the prices of now, as text without rounding", async () => {
  const { data } = await pageOf("/models?model=claude-sonnet-4-6");
  expect(data).toMatchObject([
    {
      model: "claude-sonnet-4-6",
      provider: "anthropic",
      prices: {
        input_usd: "3",
        output_usd: "15",
        read_usd: "0.3",
        write_usd: { "5m": "3.75", "1h": "6" },
      },
      cache: { lifetimes: ["5m", "1h"] },
    },
  ]);
  expect((await pageOf("/models")).data.length).toBeGreaterThan(50);
});

test("a block weighs what each call that carried it paid for it", async () => {
  const store = join(newFolder(), "ledger.db");
  const sonnet = { model: "claude-sonnet-4-6", factsId: "claude-sonnet-4-6" };
  await inLedger(store, async (ledger) => {
    await ledger.recordCalls([
      gatewayCall("a", 1, {
        ...sonnet,
        usage: usage(0, 100),
        addedBlocks: [{ ...block("tool Bash"), tokens: 100 }],
      }),
      gatewayCall("a", 2, {
        ...sonnet,
        usage: usage(100, 50),
        keptBlocks: 1,
        addedBlocks: [{ ...block("file"), tokens: 50 }],
      }),
      gatewayCall("a", 3, { ...sonnet, usage: usage(150, 0), keptBlocks: 2 }),
    ]);
  });
  const own = await openTestApi(store);
  // Bash: 100 written, then read twice; the file: 50 written, then read once.
  expect((await own.get(`/weight?${november}`)).body).toMatchObject({
    data: [
      {
        group: "tool Bash",
        block_count: 1,
        carried_count: 3,
        carried_tokens: 300,
        cost_usd: "0.000435",
      },
      { group: "file", carried_count: 2, carried_tokens: 100, cost_usd: "0.000203" },
    ],
    left_out_count: 0,
  });
});

function usage(read: number, written: number): NonNullable<GatewayCall["usage"]> {
  return {
    uncachedTokens: 0,
    cacheReadTokens: read,
    cacheWriteTokens: { "5m": written },
    outputTokens: 0,
    reasoningTokens: 0,
  };
}
