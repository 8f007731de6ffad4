// Goal: a prefix is stored at the provider only if that was asked for, pays and fits the budget; nothing is left behind, and the
// bill is the provider's to the pico-dollar. Method: an engine and the simulator's Gemini surface on one virtual clock.
import { expect, onTestFinished, test } from "vitest";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { defineTool, openEngine } from "../../src/index.ts";
import { createEcho, createSimulator } from "../../src/simulator/index.ts";

import { until } from "../../src/edge/providers/test-kit.ts";
import {
  countOf,
  expectNothingLeft,
  forgetful,
  isCreation,
  manual,
  minuteMs,
  setUp,
  simulated,
} from "./stored-kit.ts";

test("where the provider keeps nothing by itself, the prompt is stored after a turn, and calls read it as planned", async () => {
  const scene = await setUp();
  const { talk, requests, session, ledger } = scene;
  await talk(2);
  expect(session.storedPrefix.reason).toBe("what the provider keeps by itself is not known yet");
  const [third] = await talk(1);
  expect(third?.plan.stored).toBeUndefined();
  const { tokens } = session.storedPrefix;
  expect(tokens).toBe(19_649);
  const [next] = await talk(1);
  expect(next?.plan).toMatchObject({
    stored: { blocks: 10, tokens },
    expected: { readTokens: tokens },
  });
  expect(next?.usage).toMatchObject({ cacheReadTokens: tokens, uncachedTokens: 43 });
  expect(next?.verdict).toMatchObject({ kind: "as expected" });
  expect(next?.miss).toBeNull();
  // Behind what is stored only the new words are sent: no tools, no system text.
  expect(requests.filter(({ isNaming }) => isNaming).map(({ isWhole }) => isWhole)).toEqual([
    false,
  ]);
  expect(requests.filter(isCreation)).toHaveLength(1);
  expect(await ledger.listResources()).toMatchObject([{ state: "live", tokens, sessionId: "s" }]);
  await talk(2);
  await expectNothingLeft(scene);
  expect(countOf(requests, "DELETE")).toBe(1);
});

test("it costs less than the same talk without it, which stores nothing", async () => {
  const stored = await setUp();
  await stored.talk(12);
  await expectNothingLeft(stored);
  const plain = await setUp({ isOff: true });
  await plain.talk(12);
  expect(plain.session.storedPrefix.reason).toBe("storing prefixes is off");
  await expectNothingLeft(plain);
  expect(plain.requests.filter(isCreation)).toEqual([]);
  expect(Number(stored.billed()) / Number(plain.billed())).toBeLessThan(0.5);
});

test("what the provider keeps by itself is not paid for, and a budget that is too small stores nothing", async () => {
  const kept = await setUp({ billing: {} });
  await kept.talk(8);
  expect(kept.requests.filter(isCreation)).toEqual([]);
  expect(kept.session.storedPrefix.reason).toBe(
    "making and keeping it would cost more than it is expected to save",
  );
  const poor = await setUp({ config: { storedPrefix: { usdPerHour: 0.01 } } });
  await poor.talk(4);
  expect(poor.requests.filter(isCreation)).toEqual([]);
  expect(poor.session.storedPrefix.reason).toMatch(
    /^storing may cost \$0\.0\d{3}, and of \$0\.0100 for an hour \$0\.0000 is spent$/,
  );
  const capped = await setUp({
    config: {
      spending: { sessionUsd: 0.055 },
      options: { stream: false, outputTokensMax: 100 },
    },
  });
  await capped.talk(3);
  expect(capped.requests.filter(isCreation)).toEqual([]);
  expect(capped.session.storedPrefix.reason).toContain(
    "the spending cap of the session is $0.0550",
  );
});

test("it is kept on while that pays, and gone soon after the agent fell silent", async () => {
  const scene = await setUp();
  const { talk, pass, requests, session, ledger } = scene;
  await talk(3);
  await talk(3, 4 * minuteMs);
  expect(countOf(requests, "PATCH")).toBeGreaterThan(0);
  expect((await ledger.listResources())[0]?.expiresMs).toBe(session.storedPrefix.expiresMs);
  await pass(100 * minuteMs);
  expect(await ledger.listResources()).toEqual([]);
  expect(session.storedPrefix.tokens).toBeNull();
  const [resource] = await ledger.listResources({ withGone: true });
  const sentMs = scene.simulator.calls().filter(({ path }) => path.endsWith(":generateContent"));
  // An agent in a loop comes back at once or not at all.
  expect((resource?.endedMs ?? 0) - (sentMs.at(-1)?.startMs ?? 0)).toBeLessThan(120 * minuteMs);
  await expectNothingLeft(scene);
});

test("another model ends it at once", async () => {
  const scene = await setUp();
  const { talk, session, requests, ledger } = scene;
  await talk(4);
  await session.useModel("gemini-3.1-pro-preview");
  const [call] = await talk(1);
  expect(call?.plan.stored).toBeUndefined();
  expect(countOf(requests, "DELETE")).toBe(1);
  expect(await ledger.listResources({ withGone: true })).toMatchObject([{ state: "gone" }]);
  await expectNothingLeft(scene);
});

test("a session that is archived keeps nothing for longer than ten minutes", async () => {
  const scene = await setUp();
  const { talk, pass, ledger, session } = scene;
  await talk(3);
  await ledger.setStatus("s", "archived");
  await pass(10 * minuteMs);
  expect(session.storedPrefix).toMatchObject({
    tokens: null,
    reason: "the session was archived or deleted",
  });
  await expectNothingLeft(scene);
});

test("calls of a turn with tools begin with what is stored, through the whole door", async () => {
  const engine = await openEngine({
    model: "gemini-3.8-flash",
    system: manual,
    simulate: { billing: forgetful },
    storedPrefix: { usdPerHour: 5 },
    pace: "tool loop",
    counter: cheapCounter,
    tools: [
      defineTool({
        name: "list_files",
        description: "Lists the files of a folder.",
        input: { path: "string?" },
        run: () => "a.ts\nb.ts",
      }),
    ],
  });
  onTestFinished(() => engine.close());
  const session = await engine.open({ id: "s" });
  const planned: (number | undefined)[][] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const { calls, end } = await session.run("Look at the files.").result;
    expect(end).toBe("done");
    planned.push(calls.map(({ plan }) => plan.stored?.tokens));
    expect(calls.map(({ failure, miss }) => failure ?? miss)).toEqual(calls.map(() => null));
    await until(() => session.storedPrefix.tokens !== null);
  }
  expect(planned[0]?.length).toBeGreaterThan(1);
  expect(planned[0]?.every((tokens) => tokens === undefined)).toBe(true);
  expect(planned[1]?.length).toBeGreaterThan(1);
  expect(
    planned
      .slice(1)
      .flat()
      .every((tokens) => (tokens ?? 0) > 19_000),
  ).toBe(true);
  await session.close();
  expect(await engine.ledger.listResources()).toEqual([]);
});

test("on Vertex it is stored in the project and the location of the provider, and deleted there", async () => {
  const simulator = createSimulator({ seed: 1, billing: forgetful, model: createEcho() });
  const server = await simulator.listen({ port: 0 });
  onTestFinished(() => server.close());
  const engine = await openEngine({
    model: "vertex/gemini-3.8-flash",
    system: manual,
    env: {
      CLOUDSDK_AUTH_ACCESS_TOKEN: process.env["PLANTED_KEY"] ?? "",
      GOOGLE_VERTEX_BASE_URL: server.url,
      GOOGLE_CLOUD_PROJECT: "my-project",
      GOOGLE_CLOUD_LOCATION: "europe-west4",
    },
    storedPrefix: { usdPerHour: 5 },
    pace: "tool loop",
    counter: cheapCounter,
  });
  onTestFinished(() => engine.close());
  const session = await engine.open({ id: "s" });
  for (let turn = 0; turn < 4; turn += 1) {
    const { end, calls } = await session.run("And now?").result;
    expect(end).toBe("done");
    expect(calls.map(({ failure, miss }) => failure ?? miss)).toEqual([null]);
    await until(() => turn < 2 || session.storedPrefix.tokens !== null);
  }
  const [resource] = await engine.ledger.listResources();
  expect(resource?.name).toMatch(
    /^projects\/\d{12}\/locations\/europe-west4\/cachedContents\/\w+$/,
  );
  await session.close();
  expect(await engine.ledger.listResources()).toEqual([]);
  const views = simulator.billing.stored.views(simulator.clock.now());
  expect(views.map(({ name, state }) => [name, state])).toEqual([[resource?.name, "removed"]]);
  const reads = simulator.calls().map(({ billed }) => billed?.bill.readTokens ?? 0);
  expect(reads.filter((tokens) => tokens > 19_000)).toHaveLength(1);
});

test("a prefix that is gone costs one refused call: the turn goes on with the whole prompt, and the miss has its cause", async () => {
  const scene = await setUp();
  const { talk, session, simulator, url, notices } = scene;
  await talk(4);
  const [resource] = await scene.ledger.listResources();
  const name = resource?.name ?? "";
  const headers = { "x-goog-api-key": process.env["PLANTED_KEY"] ?? "" };
  await simulator.fetch(`${url}/v1beta/${name}`, { method: "DELETE", headers });
  const { calls, end } = await session.run("And now?").result;
  expect(end).toBe("done");
  expect(calls.map(({ failure, plan }) => [failure?.kind, plan.stored?.name])).toEqual([
    ["permission", name],
    [undefined, undefined],
  ]);
  expect(calls[1]?.miss).toMatchObject({
    cause: "stored prefix gone",
    expected_read_tokens: 19_649,
    reported_read_tokens: 0,
    lost_tokens: 19_649,
    lost_cost_usd: "0.013263075",
  });
  expect(notices).toContain(
    "a stored prefix was gone, and the call was sent whole: CachedContent not found (or permission denied)",
  );
  await expectNothingLeft(scene);
});

test("an answer that is lost leaves nothing: it is found by its label, and deleted with its session", async () => {
  const scene = await setUp();
  const { talk, before, requests, session, simulator, clock } = scene;
  let isLost = true;
  before.after = async (asked) => {
    if (isCreation(asked) && isLost) throw new Error("the connection broke");
  };
  await talk(3);
  isLost = false;
  expect(session.storedPrefix.tokens).toBeNull();
  expect(simulator.billing.stored.views(clock.now())).toMatchObject([{ state: "live" }]);
  await talk(1);
  expect(countOf(requests, "GET")).toBeGreaterThan(0);
  expect(simulator.billing.stored.views(clock.now())).toMatchObject([{ state: "removed" }]);
  await expectNothingLeft(scene);
});

test.each(["before it is sent", "after its answer"])(
  "a process that is killed at a creation, %s, leaves a row from which the next start ends it",
  async (moment) => {
    const folder = mkdtempSync(join(tmpdir(), "strata-stored-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const store = join(folder, "ledger.sqlite");
    const simulator = createSimulator({ ...simulated, billing: forgetful });
    const server = await simulator.listen({ port: 0 });
    const child = spawn(process.execPath, [
      join(import.meta.dirname, "stored-prefix.child.ts"),
      server.url,
      store,
      moment,
      String(simulator.clock.now()),
    ]);
    const [, signal] = (await once(child, "exit")) as [number | null, string | null];
    expect(signal).toBe("SIGKILL");
    const isMade = moment === "after its answer";
    expect(simulator.billing.stored.views(simulator.clock.now())).toHaveLength(isMade ? 1 : 0);
    await simulator.clock.advance(3 * minuteMs);
    const scene = await setUp({
      store,
      simulator,
      config: { storedPrefix: { usdPerHour: 0.000001 } },
    });
    expect(await scene.ledger.listResources()).toMatchObject([
      { state: "creating", name: null, isLeft: true },
    ]);
    await scene.talk(1);
    expect(await scene.ledger.listResources()).toEqual([]);
    await expectNothingLeft(scene);
    await server.close();
  },
);
