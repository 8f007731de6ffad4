// Goal: a change of strata.yaml holds from the next call on and fails no turn. Method: turns on the simulator while the
// file changes, sometimes into something broken; each request shows by header and markers what held for it.
import { expect, test } from "vitest";
import { createScripted } from "../../src/simulator/index.ts";
import { runReload } from "../../torture/engine/reload.ts";
import { makePlace, plantedKey, serve, start } from "./test-kit.ts";

interface Shown {
  readonly change: string | null;
  readonly isMarked: boolean;
}

const configOf = (url: string, change: number): string => `
context_optimization:
  prompt_cache: { enabled: ${change % 2 === 0} }
  compaction: { enabled: ${change % 3 === 0} }
models: { default: claude-sonnet-4-6 }
policies: { default: tail-5m }
providers:
  anthropic: { base_url: "${url}", api_key: ${plantedKey}, headers: { x-change: "${change}" } }
`;

test("200 turns while the file changes 20 times, some of them broken", async () => {
  const { turns, goodChanges, brokenChanges, folds, ...run } = await runReload({
    turns: 200,
    changes: 20,
    seed: 1,
  });
  expect(turns).toBeGreaterThanOrEqual(200);
  expect([goodChanges, brokenChanges]).toEqual([15, 5]);
  expect(folds).toBeGreaterThan(0);
  expect([run.failedTurns, run.late, run.misreported, run.problems]).toEqual([[], [], [], []]);
});

test("a change between two calls of one turn holds for the second, and leaves the prefix as it was", async () => {
  const place = makePlace();
  const shown: Shown[] = [];
  const steps = [
    { text: "Looking.", toolCalls: [{ name: "list", input: {} }] },
    { text: "Done." },
    { text: "Once more." },
  ];
  const { url, simulator } = await serve({ model: createScripted(steps) }, (headers, body) => {
    shown.push(shownIn(headers, body));
    if (shown.length === 1) place.configure(configOf(url, 1));
    if (shown.length === 2) place.configure(configOf(url, 2));
  });
  place.put("AGENTS.md", "Be brief. ".repeat(1500));
  place.configure(configOf(url, 0));
  const { engine } = await start(place);
  const session = await engine.open();
  await session.run("What is here?").result;
  await session.run("And now?").result;
  expect(shown).toEqual([
    { change: "0", isMarked: true },
    { change: "1", isMarked: false },
    { change: "2", isMarked: true },
  ]);
  // What the first call wrote is read again when markers are back.
  expect(simulator.calls()[2]?.billed?.bill.readTokens).toBeGreaterThan(1024);
});

test("tools that are taken away are refused from the next use on", async () => {
  const place = makePlace();
  const write = { name: "write", input: { path: "a.txt", content: "a" } };
  const steps = [
    { toolCalls: [write] },
    { text: "Done." },
    { toolCalls: [write] },
    { text: "Refused." },
  ];
  const { url } = await serve({ model: createScripted(steps) });
  const withTools = (toolset: string): string =>
    `${configOf(url, 0)}\ntools: { toolset: ${toolset} }\n`;
  place.configure(withTools("workspace"));
  const failures: (string | undefined)[] = [];
  const onSettled = ({
    failure,
  }: {
    readonly failure: { readonly message: string } | null;
  }): void => void failures.push(failure?.message);
  const { engine } = await start(place, { onSettled });
  const session = await engine.open();
  const { key } = session.session.thread.foundation;
  await session.run("Write it.").result;
  place.configure(withTools("read-only"));
  await session.run("Write it again.").result;
  expect(failures[0]).toBeUndefined();
  expect(failures[1]).toContain("write");
  expect(session.session.thread.foundation.key).toBe(key);
});

function shownIn(headers: Headers, body: string): Shown {
  return { change: headers.get("x-change"), isMarked: body.includes("cache_control") };
}
