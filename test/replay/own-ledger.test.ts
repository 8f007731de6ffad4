// Goal: explain and replay read Strata's own ledger and exports. Method: a session on the simulator, recorded with and
// without its events, then read from the store, from an export, and through the commands.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../../harness/random-message.ts";
import { randomWords } from "../../harness/random/random-talk.ts";
import { runSimulated, type SimulatedRun } from "../../harness/simulated-session.ts";
import { strata } from "../../src/cli/test-kit.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import type { PayloadOf } from "../../src/core/events/event.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { createEventBus } from "../../src/edge/events/event-bus.ts";
import { openStore } from "../../src/edge/stores/open-store.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { readOwnTurnIds } from "../../src/edge/stores/session-inside.ts";
import { rebuildCalls } from "../../src/replay/ledger/rebuild-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-own-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Played {
  readonly where: string;
  readonly run: SimulatedRun;
  readonly misses: readonly PayloadOf<"cache.miss">[];
}

async function play(policy: PolicyName, stores: "with events" | "without"): Promise<Played> {
  const random = createRandom(5);
  const where = join(folder, `${policy} ${stores}.db`);
  const ledger = await openLedger(where);
  const misses: PayloadOf<"cache.miss">[] = [];
  const bus = createEventBus({
    onProblem: () => {},
    ...(stores === "with events" && { store: ledger }),
  });
  bus.subscribe((event) => {
    if (event.type === "cache.miss") misses.push(event.payload);
  });
  const tool = { name: "look", description: randomWords(random, 100) };
  const inputSchemaJson = '{"type":"object","properties":{"place":{"type":"string"}}}';
  const run = await runSimulated({
    setup: {
      id: "live",
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: findPolicy(policy),
      context: { role: "unified", workspaceRules: randomWords(random, 4000) },
      tools: [{ definition: { ...tool, inputSchemaJson }, needs: [] }],
      counter: cheapCounter,
      options: { outputTokensMax: 1000, stream: true },
    },
    turns: [0, 1, 2, 3, 4].map((index) => ({
      afterMs: index === 4 ? 7_200_000 : 60_000,
      text: randomWords(random, 400),
      replies: [
        { text: "Looking.", toolCalls: [{ name: "look", input: { place: "shelf" } }] },
        { text: randomWords(random, 300) },
      ],
      volatile: [
        {
          name: "memory",
          layer: "memory",
          stability: "turn",
          text: `Note ${index}: ${randomWords(random, 30)}`,
        },
      ],
    })),
    toolResult: () => randomWords(random, 200),
    events: bus,
    ledger,
  });
  await bus.close();
  await ledger.close();
  return { where, run, misses };
}

let tail: Played;
let silent: Played;
let metis: Played;
let silentMetis: Played;

beforeAll(async () => {
  tail = await play("tail-5m", "with events");
  silent = await play("tail-5m", "without");
  metis = await play("metis", "with events");
  silentMetis = await play("metis", "without");
});

test("the prompts of a session are made again from the ledger to the byte", async () => {
  const store = await openStore(silent.where);
  const record = await store?.ledger.findSession("live");
  if (store == null || record == null) throw new Error("no session");
  const deps = { ledger: store.ledger, catalogue: builtInCatalogue, counter: cheapCounter };
  const turnIds = await readOwnTurnIds(store.database, "live");
  const exact: boolean[] = [];
  const misses: unknown[] = [];
  for await (const each of rebuildCalls(record, turnIds, deps)) {
    if ("reason" in each) throw new Error(each.reason);
    exact.push(each.isExact);
    if (each.miss !== null) misses.push(each.miss);
  }
  await store.ledger.close();
  expect(exact).toEqual(Array.from({ length: 10 }, () => true));
  expect(misses).toEqual(silent.misses);
  expect(silent.misses).toHaveLength(1);
});

test("explain says of a session in the ledger which call missed, why, and what it cost", async () => {
  const { out } = await strata({}, "explain", "--session", "live", "--store", tail.where);
  expect(out).toMatch(
    /^call +cause +lost +cost +what would have avoided it\n +9 +lifetime expired /,
  );
  expect(out).toContain("1 of 10 calls missed: ");
  const call = await strata(
    {},
    "explain",
    "--session",
    "live",
    "--store",
    tail.where,
    "--call",
    "9",
  );
  expect(call.out).toContain("live, call 9 on claude-sonnet-4-6, 7200 s after the call before\n");
  expect(call.out).toContain("lifetime expired\n  what      after 120 min\n");
  expect(call.out).toMatch(/\n {2}lost +[\d,]+ tokens, \$0\.\d{4}\n/);
});

test("explain names section and byte where a layout breaks its own cache", async () => {
  const { out } = await strata(
    {},
    "explain",
    "--session",
    "live",
    "--store",
    metis.where,
    "--json",
  );
  const [first] = JSON.parse(out).shown;
  const [live] = metis.misses;
  expect(first).toMatchObject({
    cause: "system changed",
    evidence: "recorded",
    block: { index: 2, tier: "T5", section: "volatile", byteOffset: live?.block_byte_offset },
    lostTokens: live?.lost_tokens,
  });
  expect(first.block.byteOffset).toBeGreaterThan(0);
});

test("stats misses says which section broke, at which byte, and what it cost", async () => {
  const window = ["--from", "2020-01-01", "--to", "2040-01-01", "--store", metis.where];
  const typed = ["stats", "misses", "--group-by", "section", ...window];
  const { data } = JSON.parse((await strata({}, ...typed, "--json")).out);
  const volatile = metis.misses.filter(({ block_label: label }) => label === "volatile");
  expect(volatile.length).toBeGreaterThan(0);
  expect(data).toContainEqual(
    expect.objectContaining({
      section: "volatile",
      miss_count: volatile.length,
      causes: { "system changed": volatile.length },
      costliest_block: "volatile (T5, block 3)",
      costliest_byte: volatile[0]?.block_byte_offset,
    }),
  );
  const { out } = await strata({}, ...typed);
  expect(out).toContain("volatile (T5, block 3)");
  expect(out).toMatch(/^section +miss/);
});

test("stats cache_effectiveness attributes every billed token to a tier", async () => {
  const window = ["--from", "2020-01-01", "--to", "2040-01-01", "--store", tail.where, "--json"];
  const asked = ["stats", "cache_effectiveness", ...window];
  const [all] = JSON.parse((await strata({}, ...asked)).out).data;
  const { data, notes } = JSON.parse((await strata({}, ...asked, "--group-by", "tier")).out);
  expect(notes).toEqual([]);
  const sum = (name: string): number =>
    data.reduce(
      (total: number, row: Readonly<Record<string, number>>) => total + (row[name] ?? 0),
      0,
    );
  for (const name of ["uncached_input_tokens", "cached_input_tokens", "cache_creation_tokens"]) {
    expect(sum(name)).toBe(all[name]);
  }
  expect(data.map(({ tier }: { readonly tier: string }) => tier).toSorted()).toEqual([
    "T0",
    "T1",
    "T3",
    "T4",
    "T5",
  ]);
});

test("text that is not stored is inferred, and no byte is claimed", async () => {
  const typed = ["explain", "--session", "live", "--store", silentMetis.where];
  const [first] = JSON.parse((await strata({}, ...typed, "--json")).out).shown;
  expect(first).toMatchObject({
    cause: "system changed",
    evidence: "inferred",
    block: { tier: "T5", section: "volatile", byteOffset: null },
  });
});

async function shownIn(where: string): Promise<unknown> {
  const { out } = await strata({}, "explain", "--store", where, "--json");
  return JSON.parse(out).shown.map(({ file: _file, ...call }: { readonly file: string }) => call);
}

test("without stored events the same causes are found again", async () => {
  expect(await shownIn(silent.where)).toEqual(await shownIn(tail.where));
});

test("replay prices a ledger under every policy, and an export of it alike", async () => {
  const fromStore = await strata({}, "replay", "--store", tail.where, "--json");
  expect(fromStore.error).toBe("");
  const report = JSON.parse(fromStore.out);
  expect(report.requests).toBe(10);
  expect(report.skipped).toEqual([]);
  expect(report.policies).toHaveLength(12);
  const ledger = await openLedger(tail.where);
  const lines: string[] = [];
  for await (const line of ledger.exportSession("live")) lines.push(`${line}\n`);
  await ledger.close();
  const file = join(folder, "live.jsonl");
  writeFileSync(file, lines.join(""));
  const fromFile = JSON.parse((await strata({}, "replay", file, "--json")).out);
  expect(fromFile.policies).toEqual(report.policies);
  expect(fromFile.recorded).toEqual(report.recorded);
  const explained = await strata({}, "explain", file);
  expect(explained.out).toContain("lifetime expired");
  expect(explained.out).toContain("1 of 10 calls missed: ");
});

test("the recorded policy costs in the replay what the session cost", async () => {
  const { out } = await strata(
    {},
    "replay",
    "--store",
    tail.where,
    "--policy",
    "tail-5m",
    "--json",
  );
  const report = JSON.parse(out);
  const tailCost = Number(report.policies[0].picoUsd ?? report.policies[0].costPicoUsd);
  const recorded = Number(report.recorded.picoUsd ?? report.recorded.costPicoUsd);
  expect(tailCost / recorded).toBeGreaterThan(0.98);
  expect(tailCost / recorded).toBeLessThan(1.02);
});

test.each([
  [["explain"], "there is nothing to read"],
  [["replay"], "there is nothing to read"],
  [["explain", "--session", "lives", "--store", "STORE"], "there is no session lives in"],
  [["replay", "--session", "lives", "--store", "STORE"], "there is no session lives in"],
  [["explain", "a.jsonl", "--session", "live"], "--session and --store read the ledger"],
  [["explain", "--session", "live", "--store", "nowhere.db"], "there is no ledger"],
])("%j is refused with what is wrong", async (typed, message) => {
  const words = typed.map((word) => (word === "STORE" ? tail.where : word));
  const { status, error } = await strata({}, ...words);
  expect(status).not.toBe(0);
  expect(error).toContain(message);
});

test("an export that is cut off is skipped with the reason", async () => {
  const file = join(folder, "cut.jsonl");
  writeFileSync(file, '{"strata":{"format":"strata-session/1","session":"x"}}\n');
  const { status, error } = await strata({}, "explain", file);
  expect(status).not.toBe(0);
  expect(error).toContain("no call with usage could be read from");
});
