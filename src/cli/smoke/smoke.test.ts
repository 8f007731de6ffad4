import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { createEcho, createScripted, createSimulator } from "../../simulator/index.ts";
import { parseInput } from "../command.ts";
import { checkSmoke, type SmokeTurn } from "./smoke-checks.ts";
import { smokeCommand } from "./smoke-command.ts";
import { run } from "./smoke.ts";
import { createTestIo, strata, type Ran } from "../test-kit.ts";

async function smoke(
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Ran> {
  const home = await mkdtemp(join(tmpdir(), "strata-smoke-test-"));
  const { io, said } = createTestIo({ HOME: home, ...env });
  try {
    const status = await run(parseInput(smokeCommand, words), io);
    return { status, ...said };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

test.each(["haiku", "sonnet", "opus"])(
  "without a key the simulator shows that %s writes first, then reads, for less than $0.05 (M-41)",
  async (model) => {
    const { status, out, error } = await smoke({}, "--model", model);
    expect(status).toBe(0);
    expect(error).toMatch(/^answers are simulated: no provider has a key/);
    expect(out).toMatch(/ok {6}turn 1 writes to the cache: 4,\d{3} tokens/);
    expect(out).toMatch(/ok {6}turn 2 reads from the cache: 4,\d{3} of 4,\d{3} tokens/);
    expect(out).toMatch(/ok {6}cost is at most \$0\.05: \$0\.\d+/);
    const isCompared = model !== "opus";
    expect(out.includes("ok      without markers nothing is read from the cache: 0 tokens")).toBe(
      isCompared,
    );
    expect(out.includes("ok      two turns cost less with the cache than without: $0.0")).toBe(
      isCompared,
    );
    expect(out.includes("2, no cache")).toBe(isCompared);
    expect(out.includes("not compared with turns without markers")).toBe(!isCompared);
  },
);

test("with a key the provider is asked, and --json gives the same", async () => {
  const server = await createSimulator({ model: createEcho() }).listen({ port: 0 });
  try {
    const env = { ANTHROPIC_API_KEY: plantedKey, ANTHROPIC_BASE_URL: server.url };
    const { status, out, error } = await smoke(env, "--json");
    expect(status).toBe(0);
    expect(error).toBe("");
    expect(JSON.parse(out)).toMatchObject({
      model: "claude-haiku-5-5",
      isSimulated: false,
      isOk: true,
      turns: [{ readTokens: 0, failure: null }, { failure: null }],
    });
    expect(out).not.toContain(plantedKey);
  } finally {
    await server.close();
  }
});

test("a provider that likes to talk cannot spend more than was reckoned with", async () => {
  const model = createScripted([{ text: "word ".repeat(5000), times: "always" }]);
  const server = await createSimulator({ model }).listen({ port: 0 });
  try {
    const env = { ANTHROPIC_API_KEY: plantedKey, ANTHROPIC_BASE_URL: server.url };
    const { status, out } = await smoke(env, "--json", "--model", "opus");
    expect(status).toBe(0);
    const { turns } = JSON.parse(out) as { turns: { outputTokens: number }[] };
    expect(turns.map(({ outputTokens }) => outputTokens)).toEqual([200, 200]);
  } finally {
    await server.close();
  }
});

test("a model that costs too much is refused before anything is sent", async () => {
  await expect(smoke({}, "--model", "claude-fable-5-1")).rejects.toThrow(
    "two turns with claude-fable-5-1 would cost about $0.08, more than $0.05",
  );
});

test("an unknown model is one error, and nothing is said beside it", async () => {
  const { status, out, error } = await strata({}, "smoke", "--model", "xx");
  expect({ status, out }).toEqual({ status: 3, out: "" });
  expect(error).toBe(
    'strata: model "xx" is unknown\n  list the known ones with: strata models list\n',
  );
});

const turn: SmokeTurn = {
  promptTokens: 5000,
  writtenTokens: 4900,
  readTokens: 0,
  uncachedTokens: 100,
  outputTokens: 50,
  costPicoUsd: 10_000_000_000n,
  failure: null,
};

function failedChecks(
  turns: readonly SmokeTurn[],
  model = "claude-sonnet-5-5",
  control: readonly SmokeTurn[] | null = null,
): readonly string[] {
  return checkSmoke(turns, control, resolveModel(model).facts)
    .filter(({ isOk }) => !isOk)
    .map(({ name }) => name);
}

test("each thing that is wrong fails its own check", () => {
  const read = { ...turn, writtenTokens: 0, readTokens: 4900 };
  expect(failedChecks([turn, read])).toEqual([]);
  expect(failedChecks([{ ...turn, writtenTokens: 0 }, read])).toEqual([
    "turn 1 writes to the cache",
  ]);
  expect(failedChecks([turn, turn])).toEqual(["turn 2 reads from the cache"]);
  expect(failedChecks([turn, { ...read, costPicoUsd: 40_000_000_001n }])).toEqual([
    "cost is at most $0.05",
  ]);
  expect(failedChecks([{ ...turn, failure: "overloaded: try later" }])).toEqual([
    "both turns are answered",
    "turn 2 reads from the cache",
  ]);
});

test("a cost that is not known fails the check", () => {
  const read = { ...turn, writtenTokens: 0, readTokens: 4900 };
  expect(failedChecks([turn, { ...read, costPicoUsd: null }])).toEqual(["cost is at most $0.05"]);
});

test("a control that reads without markers, or costs no more, fails", () => {
  const read = { ...turn, writtenTokens: 0, readTokens: 4900, costPicoUsd: 1_000_000_000n };
  const plain = { ...turn, writtenTokens: 0, uncachedTokens: 5000 };
  expect(failedChecks([turn, read], "claude-sonnet-5-5", [plain, plain])).toEqual([]);
  const same = { ...plain, readTokens: 10, costPicoUsd: 1_000_000_000n };
  expect(failedChecks([turn, read], "claude-sonnet-5-5", [same, same])).toEqual([
    "without markers nothing is read from the cache",
    "two turns cost less with the cache than without",
  ]);
  expect(
    failedChecks([turn, read], "claude-sonnet-5-5", [{ ...plain, failure: "overloaded: later" }]),
  ).toEqual([
    "without markers nothing is read from the cache",
    "two turns cost less with the cache than without",
  ]);
});

test("a provider that bills no writes is asked for reads only", () => {
  const read = { ...turn, readTokens: 4900 };
  expect(failedChecks([{ ...turn, writtenTokens: 0 }, read], "gpt-5.1")).toEqual([]);
});
