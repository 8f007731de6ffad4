// Goal: counts that cannot be true spoil neither the ledger nor its sums, and a ledger that they spoiled can be repaired.
// Method: a server changes the simulator's counts on the way; an old ledger is spoiled by hand as it used to be.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, wrapLanguageModel } from "ai";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import { openEngine, openLedger, type Ledger, type StrataEvent } from "../../src/index.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import { openNodeServer } from "../../src/simulator/server/node-server.ts";
import { strataMiddleware, type ReportedCall } from "../../src/integrations/ai-sdk/index.ts";
import { call, newTurn, openSession, startMs } from "./test-kit.ts";
import { openWorld } from "../own-loop/test-kit.ts";
import { runStrata } from "../run-strata.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-absurd-"));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ fsync: false });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

const absurd = '"input_tokens":1000000000000';

function withAbsurdCounts(text: string): string {
  return text.replace(/"input_tokens":\d+/g, absurd);
}

/** Runs two turns of a session against a provider that reports 10^12 tokens. */
async function runAbsurd(store: string): Promise<void> {
  const simulator = createSimulator({
    model: createScripted([{ text: "One." }, { text: "Two." }]),
  });
  const provider = await openNodeServer(async (request) => {
    const { status, headers, ...answer } = await fetched(simulator.fetch(request));
    return new Response(withAbsurdCounts(answer.text), { status, headers });
  });
  const env = { ANTHROPIC_API_KEY: plantedKey, ANTHROPIC_BASE_URL: provider.url };
  {
    await using engine = await openEngine({
      model: "claude-sonnet-5-5",
      counter: cheapCounter,
      env,
      store,
    });
    const session = await engine.session("s");
    for (const said of ["Once.", "Again."])
      expect((await session.run(said).result).end).toBe("done");
  }
  await provider.close();
}

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function open(store: string): Promise<Ledger> {
  const ledger = await openLedger(store);
  onTestFinished(() => ledger.close());
  return ledger;
}

const stores: Readonly<Record<string, (name: string) => Promise<string>>> = {
  sqlite: (name) => Promise.resolve(join(folder, `${name}.db`)),
  postgres: () => server.createDatabase(),
};

describe.each(Object.entries(stores))("on %s", (kind, place) => {
  test("a provider that reports 10^12 tokens is not believed: kept as text, counted, not summed", async () => {
    const store = await place("absurd");
    await runAbsurd(store);
    const ledger = await open(store);
    const turns = await all(ledger.readTurns({ sessionId: "s" }));
    const calls = (await Promise.all(turns.map(({ id }) => ledger.readCalls(id)))).flat();
    expect(calls.map(({ usage, costPicoUsd }) => [usage, costPicoUsd])).toEqual([
      [null, null],
      [null, null],
    ]);
    expect(calls[0]?.notes).toContainEqual({
      kind: "usage-refused",
      detail: expect.stringMatching(
        /^the reported usage cannot be true and is not booked: .*1000000000000.* is more than 100 times the window of \d+ tokens$/,
      ),
    });
    const events = await all<StrataEvent>(ledger.readEvents({ types: ["llm.call_completed"] }));
    expect(events.map(({ payload }) => payload)).toEqual([
      expect.objectContaining({ usage_refused: true, input_tokens: 0 }),
      expect.objectContaining({ usage_refused: true, input_tokens: 0 }),
    ]);
    expect((await ledger.listSessions())[0]).toMatchObject({ id: "s", costPicoUsd: 0n });
    expect((await ledger.stats()).costPicoUsd).toBe(0n);
    expect(await all(ledger.check())).toEqual([]);
  });

  test("sums of counts and costs at the edge of what is stored do not fail", async () => {
    const store = await place("sums");
    const ledger = await open(store);
    await spoil(store, ledger, { tokens: Number.MAX_SAFE_INTEGER, costs: 2n ** 62n });
    const [turn] = await all(ledger.readTurns({ turnId: "t" }));
    expect(turn?.usage.uncachedTokens).toBe(Number.MAX_SAFE_INTEGER);
    expect(turn?.costPicoUsd).toBe(3n * 2n ** 62n);
    expect((await ledger.stats()).costPicoUsd).toBe(3n * 2n ** 62n);
    const runs = [1, 2, 3].map(
      (number) => `call ${number} of turn t has counts that cannot be true`,
    );
    expect(await all(ledger.check())).toEqual(expect.arrayContaining(runs));
  });

  test("a ledger that was spoiled is repaired, and says what it changed", async () => {
    const store = await place("spoiled");
    const ledger = await open(store);
    await spoil(store, ledger, { tokens: 10 ** 12, costs: 3n * 10n ** 18n });
    const found = await all(ledger.check());
    expect(found).toContain("call 1 of turn t has counts that cannot be true");
    expect(found.some((problem) => problem.startsWith("session s has a cost that differs"))).toBe(
      true,
    );
    const changes = await all(ledger.repair());
    expect(changes[0]).toMatch(
      /^call 1 of turn t: the recorded usage cannot be true and was removed by a repair: uncached_tokens 1000000000000, .*\$3000000$/,
    );
    expect(changes.at(-1)).toMatch(/^session s: its cost of .* is now \$0, the sum of its calls/);
    expect(await all(ledger.check())).toEqual([]);
    expect((await ledger.listSessions())[0]?.costPicoUsd).toBe(0n);
    expect((await ledger.readCalls("t"))[0]?.notes[0]?.kind).toBe("usage-refused");
    expect(await all(ledger.repair())).toEqual([]);
    expect(kind).toBe((await ledger.stats()).store);
  });
});

test("in an application's own loop, too, such counts are not believed", async () => {
  const { engine, ledger, post } = await openWorld({ script: [{ text: "Hi." }] });
  const session = await engine.open({ id: "own" });
  const asked = await session.prepare("Hello.");
  const reply = await (await post(asked)).text();
  const { entry } = await session.record(asked, JSON.parse(withAbsurdCounts(reply)));
  expect([entry.usage, entry.costPicoUsd]).toEqual([null, null]);
  expect(entry.notes.map(({ kind }) => kind)).toContain("usage-refused");
  expect(await all(ledger.check())).toEqual([]);
});

test("in the AI SDK, too, such counts are not believed", async () => {
  const simulator = createSimulator({ model: createScripted([{ text: "Hi." }]) });
  const calls: ReportedCall[] = [];
  const anthropic = createAnthropic({
    apiKey: plantedKey,
    baseURL: "http://localhost/v1",
    fetch: async (input, init) => {
      const { status, headers, ...answer } = await fetched(simulator.fetch(input, init));
      return new Response(withAbsurdCounts(answer.text), { status, headers });
    },
  });
  const middleware = strataMiddleware({ onCall: (reported) => calls.push(reported) });
  const model = wrapLanguageModel({ model: anthropic("claude-sonnet-4-6"), middleware });
  expect((await generateText({ model, prompt: "Hello." })).text).toBe("Hi.");
  expect(calls.map(({ entry }) => [entry.usage, entry.costPicoUsd])).toEqual([[null, null]]);
});

test("the command says what is damaged in an old ledger and how to repair it, and repairs it", async () => {
  const store = join(folder, "old.db");
  const ledger = await openLedger(store);
  await spoil(store, ledger, { tokens: 10 ** 12, costs: 3n * 10n ** 18n });
  await ledger.close();
  const listed = runStrata(store, ["sessions"]);
  expect(listed.status).toBe(10);
  expect(listed.error).toMatch(
    /^strata: session s is damaged in the ledger: column cost_pico_usd holds 1\.2e\+19\n.*strata ledger check --repair/,
  );
  const repaired = runStrata(store, ["ledger", "check", "--repair"]);
  expect(repaired.out).toContain("Repaired: call 1 of turn t: the recorded usage cannot be true");
  expect(repaired.out).toContain("Repaired: session s: its cost of 1.2e+19 pico-dollars is now $0");
  expect(repaired.out).toContain("no problems.");
  expect(repaired.status).toBe(0);
  expect(runStrata(store, ["sessions"]).status).toBe(0);
  expect(runStrata(store, ["stats", "cost"]).status).toBe(0);
});

async function fetched(
  answer: Promise<Response>,
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const response = await answer;
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Three calls with these counts, as an older version booked them. In SQLite, the session's cost became a float. */
async function spoil(
  store: string,
  ledger: Ledger,
  { tokens, costs }: { readonly tokens: number; readonly costs: bigint },
): Promise<void> {
  await openSession(ledger, "s");
  const turn = await ledger.openTurn(newTurn("s", "t", null));
  for (const number of [1, 2, 3]) await turn.append(call("t", number));
  await turn.close({ status: "completed", endMs: startMs + 100 });
  const database = await openDatabase(store);
  await database.query("UPDATE calls SET uncached_tokens = ?, cost_pico_usd = ?", [tokens, costs]);
  const cost = database.kind === "sqlite" ? "1.2e19" : "7";
  await database.query(`UPDATE sessions SET cost_pico_usd = ${cost}`);
  await database.close();
}
