// Goal: a turn that fell back to another model is read again as it was. Method: a session on two simulators whose first
// one fails after a tool ran; its calls made again from the ledger, and the commands that read it.
import { join } from "node:path";
import { expect, test } from "vitest";
import { strata } from "../../src/cli/test-kit.ts";
import { builtInCatalogue } from "../../src/core/models/catalogue.ts";
import { openStore } from "../../src/edge/stores/open-store.ts";
import { readOwnTurnIds } from "../../src/edge/stores/session-inside.ts";
import { cheapCounter } from "../../src/index.ts";
import { readStoredMisses } from "../../src/replay/ledger/found-misses.ts";
import { rebuildCalls, type RebuiltCall } from "../../src/replay/ledger/rebuild-calls.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { makePlace, plantedKey, serve, start } from "./test-kit.ts";

const sonnet = "claude-sonnet-5-5";

/** Two turns with Claude. It fails in the first one, after it thought and a tool ran. Returns the file of the ledger. */
async function playFallback(fallback: string): Promise<string> {
  const place = makePlace();
  const look = { name: "read", input: { path: "AGENTS.md" } };
  const claude = [
    { thinking: "A list may help.", text: "I look.", toolCalls: [look] },
    { text: "A file." },
    { text: "Yes." },
  ];
  const first = await serve({ model: createScripted(claude) });
  const second = await serve({ model: createScripted([{ text: "A file." }]) });
  place.put("AGENTS.md", "Be brief. ".repeat(1_000));
  place.configure(`
models: { default: ${sonnet} }
routing: { fallback: [${fallback}], fallback_rest_seconds: 0 }
providers:
  anthropic: { base_url: "${first.url}", api_key: ${plantedKey}, retries: { attempts_max: 1 } }
  openai: { base_url: "${second.url}/v1", api_key: ${plantedKey}, retries: { attempts_max: 1 } }
`);
  const started = await start(place);
  const session = await started.engine.open({ id: "s" });
  const turn = session.run("What is here?");
  for await (const part of turn) {
    const hasThought = part.type === "tool" && part.status === "running";
    if (hasThought) first.simulator.fault({ kind: "overloaded" });
  }
  await session.run("Sure?").result;
  await started.close();
  return join(place.folder, "ledger.db");
}

interface MadeAgain {
  readonly calls: readonly (readonly [model: string, isExact: boolean])[];
  /** The causes of misses: as the session told them, and as they are found again. */
  readonly told: readonly (string | undefined)[];
  readonly found: readonly (string | undefined)[];
}

async function makeAgain(file: string): Promise<MadeAgain> {
  const store = await openStore(file);
  const record = await store?.ledger.findSession("s");
  if (store == null || record == null) throw new Error("no session");
  const { ledger, database } = store;
  const stored = await readStoredMisses(ledger, "s");
  const turnIds = await readOwnTurnIds(database, "s");
  const deps = { ledger, catalogue: builtInCatalogue, counter: cheapCounter };
  const rebuilt: RebuiltCall[] = [];
  for await (const each of rebuildCalls(record, turnIds, deps)) {
    if ("reason" in each) throw new Error(each.reason);
    rebuilt.push(each);
  }
  await ledger.close();
  return {
    calls: rebuilt.map(({ session, isExact }) => [session.modelName, isExact]),
    told: rebuilt.map(({ turn, call }) => stored.get(turn.id)?.misses.get(call.number)?.cause),
    found: rebuilt.map(({ miss }) => miss?.cause),
  };
}

test.each([
  ["claude-haiku-4-5", "claude-api/claude-haiku-4-5"],
  ["gpt-6.1-sol", "openai-api/gpt-6.1-sol"],
])("a turn that fell back to %s is explained and replayed as it was sent", async (to, name) => {
  const file = await playFallback(to);
  const { calls, told, found } = await makeAgain(file);
  const own = `claude-api/${sonnet}`;
  expect(calls).toEqual([
    [own, true],
    [own, true],
    [name, true],
    [own, true],
  ]);
  expect(told[2]).toBe("model changed");
  expect(found).toEqual(told);
  const explained = await strata({}, "explain", "--session", "s", "--store", file, "--json");
  const { shown, skipped } = JSON.parse(explained.out);
  expect(shown[0]).toMatchObject({
    model: to,
    evidence: "recorded",
    cause: "model changed",
    detail: `model: ${sonnet} → ${to}`,
  });
  expect(skipped).toEqual([{ reason: "no reply arrived", count: 1 }]);
  const replayed = await strata({}, "replay", "--store", file, "--json");
  expect(JSON.parse(replayed.out)).toMatchObject({ requests: 3, skipped });
});
