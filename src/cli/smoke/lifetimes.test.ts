import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { openEngine } from "../../host/open-engine.ts";
import { createVirtualClock, type Clock } from "../../simulator/clock.ts";
import { createSimulator, type BillingOptions } from "../../simulator/index.ts";
import { parseInput } from "../command.ts";
import { createTestIo, strata, type Ran } from "../test-kit.ts";
import { smokeLifetimes } from "./lifetimes.ts";
import { judgeLifetimes } from "./lifetimes-verdict.ts";
import { smokeCommand } from "./smoke-command.ts";

/** A place without a configuration, and a ledger in it. */
function makeEnv(): Record<string, string> {
  const home = mkdtempSync(join(tmpdir(), "strata-lifetimes-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return { HOME: home, STRATA_DATA_DIR: home, STRATA_STORE: join(home, "ledger.db") };
}

/** A provider with a key, on a clock that the trial moves. */
async function tryReal(
  env: Record<string, string>,
  billing: Partial<BillingOptions>,
  ...words: readonly string[]
): Promise<Ran> {
  return tryOn(env, billing, words, (virtual, ms) => virtual.advance(ms));
}

async function tryOn(
  env: Record<string, string>,
  billing: Partial<BillingOptions>,
  words: readonly string[],
  pass: (virtual: Clock, ms: number) => Promise<void>,
): Promise<Ran> {
  const virtual = createVirtualClock();
  const server = await createSimulator({ clock: virtual, billing }).listen({ port: 0 });
  onTestFinished(() => server.close());
  const keyed = { ...env, ANTHROPIC_API_KEY: plantedKey, ANTHROPIC_BASE_URL: server.url };
  const { io, said } = createTestIo(keyed);
  const input = parseInput(smokeCommand, ["--lifetimes", ...words]);
  const clock = { now: () => virtual.now(), pass: (ms: number) => pass(virtual, ms) };
  const status = await smokeLifetimes({ input, io, model: "claude-haiku-5-5", clock });
  return { status, ...said };
}

test("without a key the simulator shows the trial, in no time, and nothing is kept", async () => {
  const env = makeEnv();
  const { status, out, error } = await strata(env, "smoke", "--lifetimes");
  expect(error).toMatch(/^answers are simulated/);
  expect(status).toBe(0);
  expect(out).toContain("a long part at the end keeps the whole prefix: kept\n");
  expect(out).toContain("an expired head after a marker on it: gone\n");
  expect(out).not.toContain("kept in the ledger");
});

test.each([
  [{}, { step: "kept", head: "gone" }],
  [{ markerBeforeHit: "writes" }, { step: "kept", head: "came back" }],
  [{ entryLives: "as its shortest part" }, { step: "lost", head: "not tested" }],
] as const)("a provider that bills by %j gets the verdict %j", async (billing, verdict) => {
  const { status, out } = await tryReal(makeEnv(), billing, "--yes", "--json");
  expect(status).toBe(0);
  const result = JSON.parse(out);
  expect(result).toMatchObject({ model: "claude-haiku-5-5", isSimulated: false, ...verdict });
  expect(result.calls.map(({ failure }: { failure: unknown }) => failure)).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect(out).not.toContain(plantedKey);
});

test("--store without a trial to keep is refused", async () => {
  expect(await strata(makeEnv(), "smoke", "--store", "x.db")).toMatchObject({
    status: 2,
    error: expect.stringContaining("--store is for --lifetimes"),
  });
});

test("--yes without the question it answers is refused", async () => {
  expect(await strata(makeEnv(), "smoke", "--yes")).toMatchObject({
    status: 2,
    error: expect.stringContaining("--yes is for --lifetimes"),
  });
});

test("nothing is sent before the question is answered, and the question names the price", async () => {
  const env = makeEnv();
  await expect(tryReal(env, {})).rejects.toThrow(
    /^Four calls to claude-haiku-5-5 of anthropic over about six minutes cost at most \$0\.0\d\d\. Send them\? There is no terminal to ask on$/,
  );
});

test("a ledger that cannot be opened is refused before anything is sent", async () => {
  const env = makeEnv();
  writeFileSync(env["STRATA_STORE"] ?? "", "no database");
  await expect(tryReal(env, {}, "--yes")).rejects.toThrow(/is not a SQLite database/);
});

test("what was sent before an interruption is in the ledger", async () => {
  const env = makeEnv();
  const pausing = tryOn(env, {}, ["--yes"], () => Promise.reject(new Error("interrupted")));
  await expect(pausing).rejects.toThrow("interrupted");
  const ledger = await openLedger(env["STRATA_STORE"] ?? "");
  onTestFinished(() => ledger.close());
  const [session] = await ledger.listSessions({ agent: "strata smoke" });
  expect(session).toMatchObject({ turnCount: 2 });
});

test("the trial and its cost are in the ledger", async () => {
  const env = makeEnv();
  const { out } = await tryReal(env, {}, "--yes", "--json");
  const { recordedAs } = JSON.parse(out) as { recordedAs: string };
  const ledger = await openLedger(env["STRATA_STORE"] ?? "");
  onTestFinished(() => ledger.close());
  const sessions = await ledger.listSessions({ agent: "strata smoke" });
  expect(new Map(sessions.map(({ id, turnCount }) => [id, turnCount]))).toEqual(
    new Map([
      [recordedAs, 3],
      [`${recordedAs}-after`, 1],
    ]),
  );
  expect(sessions.every(({ costPicoUsd }) => costPicoUsd > 0n)).toBe(true);
});

test.each([
  [{}, { held: 5, broken: 0 }, "kept"],
  [{ entryLives: "as its shortest part" }, { held: 0, broken: 5 }, "lost"],
] as const)(
  "what a trial under %j found, later sessions of every agent know, and doctor shows",
  async (billing, known, step) => {
    const env = makeEnv();
    await tryReal(env, billing, "--yes");
    const engine = await openEngine({
      model: "claude-haiku-5-5",
      agent: "writer",
      store: env["STRATA_STORE"] ?? "",
      env: { ANTHROPIC_API_KEY: plantedKey },
    });
    onTestFinished(() => engine.close());
    const { evidence } = (await engine.open()).session.cache;
    expect(evidence["steps last"]).toEqual(known);
    const { out } = await strata(env, "doctor");
    expect(out).toMatch(
      new RegExp(
        `ok {7}lifetimes +anthropic/claude-haiku-5-5, tested 20\\d\\d-\\d\\d-\\d\\d: a long part at the end keeps the whole prefix: ${step};`,
      ),
    );
  },
);

test("a model without markers for both lifetimes is refused", async () => {
  await expect(
    strata(makeEnv(), "smoke", "--lifetimes", "--model", "gpt-5.1"),
  ).resolves.toMatchObject({
    status: 2,
    error: expect.stringContaining("has no markers for 5m and 1h"),
  });
});

const usage = (read: number, short: number, long = 0) => ({
  uncachedTokens: 10,
  cacheReadTokens: read,
  cacheWriteTokens: { "5m": short, "1h": long },
  outputTokens: 5,
  reasoningTokens: 0,
});

test.each([
  [
    "a call without an answer",
    [usage(0, 5000), null],
    "call 2 was not answered, or its usage was not reported",
  ],
  [
    "a prefix that was warm",
    [usage(5000, 0), usage(5000, 0, 90), usage(0, 1)],
    "call 1 wrote nothing new",
  ],
  [
    "a second call that read nothing",
    [usage(0, 5000), usage(0, 0, 5090), usage(0, 1)],
    "call 2 did not read what call 1 wrote",
  ],
  [
    "a step billed for 5m",
    [usage(0, 5000), usage(5000, 90), usage(0, 1)],
    "call 2 wrote nothing for an hour",
  ],
  [
    "a read of the old end",
    [usage(0, 5000), usage(5000, 0, 5000), usage(5000, 1)],
    "call 3 read 5,000 of the 10,000 tokens that call 2 covered: another entry may still have lived",
  ],
])("%s settles nothing", (_name, usages, reason) => {
  expect(judgeLifetimes(usages)).toEqual({
    step: "unclear",
    head: "not tested",
    reasons: [reason],
  });
});
