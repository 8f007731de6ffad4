// A summariser that fails in every way: the turn goes out all the same, and everything is paid for and told.
import { expect, test } from "vitest";
import type { FaultSpec, Model } from "../../../src/simulator/index.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { callsTool, reply, words } from "../speakers.ts";
import { expectCosts, messagesOf } from "../looks.ts";
import { compactionsSoon, largeTurn, openWorld, type WorldOptions } from "../test-kit.ts";
import { fileTool } from "../tools.ts";

interface Failing {
  readonly summary?: Model;
  readonly fault?: FaultSpec;
  readonly options?: WorldOptions;
  readonly says: RegExp;
}

const ways: Readonly<Record<string, Failing>> = {
  "a rate limit": { fault: { kind: "rate limited", count: 3 }, says: /rate-limited/ },
  "a server error": { fault: { kind: "server error", count: 3 }, says: /server-error/ },
  "no answer in time": {
    fault: { kind: "stall", afterEvents: 0, count: 3 },
    options: { summaryTimeouts: { firstByteMs: 150, idleMs: 150 } },
    says: /timeout/,
  },
  "an empty answer": { summary: () => reply(""), says: /It is empty/ },
  "a tool call": {
    summary: () => callsTool("read", { path: "a.ts", tokens: 1 }),
    options: { tools: [fileTool("read")] },
    says: /called a tool/,
  },
  "a text that is too long": {
    summary: () => reply(words(1_700, "long")),
    says: /too long/,
  },
  gibberish: { summary: () => reply("and so on ".repeat(100)), says: /over and over/ },
  "a text without the headings": { summary: () => reply(words(300, "short")), says: /headings/ },
};

export function failingContract(open: OpenLedger): void {
  test.each(Object.entries(ways))(
    "CF-E: %s leaves the history as it was, and the turn goes out",
    async (_, { fault, summary, options, says }) => {
      const world = await openWorld(open, {
        ...options,
        settings: compactionsSoon,
        ...(summary === undefined ? {} : { summary }),
      });
      await world.talk(7);
      const before = messagesOf(world.session);
      if (fault !== undefined) world.simulator.fault(fault);
      const [run] = await world.talk(1, { from: 8 });
      expect(run?.end).toBe("done");
      expect(messagesOf(world.session).slice(0, 14)).toEqual(before);
      expect(messagesOf(world.session)).toHaveLength(16);
      expect(world.bodies.filter(({ wants }) => wants === "summary")).toHaveLength(3);
      const [told, ...more] = world.payloads("compaction.failed");
      expect(more).toEqual([]);
      expect(told).toMatchObject({ trigger: "context_limit", outcome: "failed" });
      expect(told?.error_message_redacted).toMatch(says);
      expect(world.payloads("compaction.completed")).toEqual([]);
      expect(await world.folds()).toEqual([]);
      expect(await world.violations()).toEqual([]);
      await expectCosts(world);
    },
  );

  test.each(Object.entries(ways))(
    "CF-E: where nothing else fits, %s leads to notes that no model wrote",
    async (_, { fault, summary, options }) => {
      const world = await openWorld(open, {
        ...options,
        ...(summary === undefined ? {} : { summary }),
      });
      await world.talk(7, { tokens: largeTurn });
      if (fault !== undefined) world.simulator.fault(fault);
      const [run] = await world.talk(1, { from: 8, tokens: largeTurn });
      expect(run?.end).toBe("done");
      const [compaction] = await world.folds();
      expect(compaction).toMatchObject({ kind: "sliding_window", trigger: "context_limit" });
      expect(compaction?.summary).toContain("Step 1: look at src/module-1.ts.");
      expect(compaction?.tokensAfter).toBeLessThan(compaction?.tokensBefore ?? 0);
      expect(world.payloads("compaction.completed")).toMatchObject([{ outcome: "ok" }]);
      expect(await world.violations()).toEqual([]);
      await expectCosts(world);
      const { key } = world.session.thread.end;
      expect((await world.restart()).thread.end.key).toBe(key);
    },
  );

  test("CF-E: what a fold that somebody asked for cost in vain is booked with the next call, also after a restart", async () => {
    const world = await openWorld(open, { summary: () => reply("") });
    await world.talk(7);
    expect((await world.compact()).kind).toBe("unchanged");
    await world.restart();
    expect(world.session.compactionState.failures).toBe(1);
    await world.talk(1, { from: 8 });
    await expectCosts(world);
  });
}
