import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { createEcho, createSimulator } from "../../simulator/index.ts";
import { strata, type Ran } from "../test-kit.ts";

interface Scene {
  readonly warm: (...typed: readonly string[]) => Promise<Ran>;
  readonly store: string;
}

async function setUp(): Promise<Scene> {
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createEcho() });
  const server = await simulator.listen({ port: 0 });
  const home = await mkdtemp(join(tmpdir(), "strata-warm-test-"));
  onTestFinished(async () => {
    await server.close();
    await rm(home, { recursive: true, force: true });
  });
  const store = join(home, "ledger.db");
  const env = {
    HOME: home,
    STRATA_STORE: store,
    ANTHROPIC_API_KEY: plantedKey,
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: plantedKey,
    OPENAI_BASE_URL: `${server.url}/v1`,
  };
  return { store, warm: (...typed) => strata(env, "warm", "--workspace", home, ...typed) };
}

test("says what it wrote, for how much and until when; the next session reads it", async () => {
  const { warm } = await setUp();
  const first = await warm("--for", "1h");
  expect(first).toMatchObject({ status: 0, error: "" });
  expect(first.out).toMatch(
    /^claude-sonnet-5-5: wrote \d,\d{3} tokens for \$0\.\d{6}; warm until \d{4}-\d\d-\d\dT[\d:]{8}Z\nevery session that begins alike reads it; this one: strata chat --resume [0-9a-f]{8}\n$/,
  );
  const second = await warm("--json");
  expect(JSON.parse(second.out)).toMatchObject({
    model: "claude-sonnet-5-5",
    isSimulated: false,
    isWarm: true,
    writtenTokens: 0,
  });
  expect(JSON.parse(second.out).readTokens).toBeGreaterThan(1500);
});

test("its cost is in the ledger, as a call without a turn", async () => {
  const { warm, store } = await setUp();
  const { sessionId, costPicoUsd } = JSON.parse((await warm("--json")).out);
  const { out } = await warm("--json", "--resume", sessionId);
  expect(JSON.parse(out)).toMatchObject({ sessionId, isWarm: true, writtenTokens: 0 });
  expect(Number(JSON.parse(out).costPicoUsd)).toBeLessThan(Number(costPicoUsd) / 10);
  const ledger = await openLedger(store);
  const calls = await ledger.readLoneCalls(sessionId);
  const record = await ledger.findSession(sessionId);
  await ledger.close();
  expect(calls.map(({ kind, usage }) => [kind, usage?.outputTokens])).toEqual([
    ["warm", 0],
    ["warm", 0],
  ]);
  expect(String(record?.costPicoUsd)).toBe(
    String(BigInt(costPicoUsd) + BigInt(JSON.parse(out).costPicoUsd)),
  );
  expect(record?.turnCount).toBe(0);
});

test("where nothing can be warmed it says so and ends with status 1", async () => {
  const { warm } = await setUp();
  const { status, out } = await warm("--model", "gpt-5.1");
  expect([status, out]).toEqual([
    1,
    "not warmed: gpt-5.1 has no way to cache without a reply (gpt-5.1)\n",
  ]);
  expect(await warm("--for", "2h")).toMatchObject({
    status: 2,
    error: "strata: --for 2h is no lifetime\n  did you mean 12h?\n",
  });
});
