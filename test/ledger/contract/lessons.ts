// What earlier sessions of an agent learned, and what a new one of it starts from: through an engine, on any node.
import { expect, onTestFinished, test } from "vitest";
import { cheapCounter } from "../../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../../src/core/wire/anthropic-messages/index.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { closeAll } from "../../../src/edge/providers/test-kit.ts";
import { createEngine, type Engine } from "../../../src/engine/session/create-engine.ts";
import type { EngineConfig } from "../../../src/engine/session/engine-config.ts";
import { connect } from "../../../src/engine/test-kit.ts";
import { emptyWorld } from "../../../src/engine/world/world.ts";
import { createEcho, createSimulator } from "../../../src/simulator/index.ts";
import type { OpenLedger } from "../stores.ts";

/** Long enough to be cached. */
const parts = { system: "Answer briefly and check what you say. ".repeat(200) };

interface Node {
  readonly engine: Engine;
  /** A new session, with that many minutes after each of its turns. */
  readonly talk: (...pauses: readonly number[]) => Promise<string>;
}

async function openNode(
  ledger: Ledger,
  config: Partial<EngineConfig> = {},
  { forgetful = false } = {},
): Promise<Node> {
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createEcho() });
  const { clock } = simulator;
  const provider = await connect(simulator, anthropicMessages);
  const engine = createEngine(
    { model: "claude-sonnet-4-6", agent: "reviewer", options: { stream: false }, ...config },
    {
      ledger,
      reach: () => ({ protocol: anthropicMessages, provider }),
      counter: cheapCounter,
      world: () => Promise.resolve({ ...emptyWorld, context: () => Promise.resolve({ parts }) }),
      now: () => clock.now(),
    },
  );
  onTestFinished(async () => {
    await engine.close();
    await closeAll();
  });
  const talk = async (...pauses: readonly number[]): Promise<string> => {
    const session = await engine.open();
    for (const minutes of [...pauses, 0]) {
      expect((await session.run("And now?").result).end).toBe("done");
      await clock.advance(minutes * 60_000);
      if (forgetful) simulator.reset();
    }
    return session.id;
  };
  return { engine, talk };
}

/** What a new session inherits. */
async function gapsOf({ engine }: Node): Promise<unknown> {
  const { pace } = (await engine.open()).session;
  return pace.inherited;
}

export function lessonsContract(open: OpenLedger): void {
  test("a new session of an agent starts from the pace of its earlier ones, on another node too", async () => {
    const { ledger, reopen } = await open();
    await (await openNode(ledger)).talk(1, 10, 20, 1);
    const other = await openNode(await reopen());
    const inherited = { gaps: [1, 1, 0, 0, 0, 0], gapsAfterPause: [1, 1, 0, 0, 0, 0] };
    expect(await gapsOf(other)).toEqual(inherited);
    // What the next session inherits of this one is its own: one more quick gap.
    await other.talk(1);
    const more = { gaps: [2, 1, 0, 0, 0, 0], gapsAfterPause: [1, 1, 0, 0, 0, 0] };
    expect(await gapsOf(await openNode(ledger))).toEqual(more);
  });

  test("sessions that run side by side on two nodes all teach, and none overwrites another", async () => {
    const { ledger, reopen } = await open();
    const nodes = [await openNode(ledger), await openNode(await reopen())];
    // They share a clock, so that each gap is as long as several pauses, and still quick.
    await Promise.all(nodes.flatMap((node) => [node.talk(0.1, 0.1), node.talk(0.1, 0.1)]));
    const inherited = { gaps: [8, 0, 0, 0, 0, 0], gapsAfterPause: [0, 0, 0, 0, 0, 0] };
    expect(await gapsOf(await openNode(ledger))).toEqual(inherited);
  });

  test("a fresh agent starts from its role's prior: another agent, model, pace or archived session teaches nothing", async () => {
    const { ledger } = await open();
    const node = await openNode(ledger);
    const id = await node.talk(1, 1);
    expect(await gapsOf(await openNode(ledger, { agent: "writer" }))).toBeUndefined();
    expect(await gapsOf(await openNode(ledger, { model: "claude-opus-4-6" }))).toBeUndefined();
    expect(await gapsOf(await openNode(ledger, { pace: "cron" }))).toBeUndefined();
    expect(await gapsOf(node)).toBeDefined();
    await ledger.setStatus(id, "archived");
    expect(await gapsOf(node)).toBeUndefined();
  });

  test("only the latest eight count, and not for more than sixteen gaps", async () => {
    const { ledger, advance } = await open();
    const node = await openNode(ledger);
    await node.talk(10, 10, 10);
    for (let session = 0; session < 8; session += 1) {
      advance(1000);
      await node.talk(1, 1, 1);
    }
    const inherited = { gaps: [16, 0, 0, 0, 0, 0], gapsAfterPause: [0, 0, 0, 0, 0, 0] };
    expect(await gapsOf(node)).toEqual(inherited);
  });

  test("a promise that a provider broke is known to the agent's next session", async () => {
    const { ledger } = await open();
    const node = await openNode(ledger, {}, { forgetful: true });
    await node.talk(1, 1, 1);
    const { evidence } = (await node.engine.open()).session.cache;
    expect(evidence["writes are kept"]).toEqual({ held: 0, broken: 3 });
    expect(evidence["lookback finds"]).toEqual({ held: 0, broken: 0 });
  });

  test("a damaged state of an earlier session stops no new one", async () => {
    const { ledger, database, expectDamage } = await open();
    const node = await openNode(ledger);
    const id = await node.talk(1);
    expectDamage();
    const damage = { sql: "UPDATE sessions SET state_json = '{' WHERE id = ?", values: [id] };
    await database.commit({ inOrder: true, guards: [], writes: [damage] });
    expect(await gapsOf(node)).toBeUndefined();
  });
}
