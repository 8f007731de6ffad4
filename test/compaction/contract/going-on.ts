// A compacted session goes on: after failures, restarts, forks and moves to another store, with the bytes it would have had.
import { expect, test } from "vitest";
import { findPolicy } from "../../../src/core/cache/policies.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { bodyText } from "../../../src/core/wire/encoded-request.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import { openSqlite } from "../../../src/edge/stores/sqlite/open-sqlite.ts";
import type { Deps } from "../../../src/engine.ts";
import { resumeSession } from "../../../src/engine/session/stored-session.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { all, each as eachOf, lines } from "../../ledger/test-kit.ts";
import { words, writesSummaries } from "../speakers.ts";
import { expectSame, messagesOf, textOf } from "../looks.ts";
import {
  compactionsSoon,
  openWorld,
  sessionId,
  type World,
  type WorldOptions,
} from "../test-kit.ts";
import { fileTool, reads } from "../tools.ts";

export function goingOnContract(open: OpenLedger): void {
  test("a turn that fails after the fold before it leaves the fold, and nothing of itself", async () => {
    const world: World = await openWorld(open, {
      settings: compactionsSoon,
      summary: (prompt) => {
        world.simulator.fault({ kind: "server error" });
        return writesSummaries(prompt);
      },
    });
    const [run] = (await world.talk(8)).slice(-1);
    expect(run?.end).toBe("failed");
    expect(await world.folds()).toHaveLength(1);
    expect(messagesOf(world.session).map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    await expectSame(world);
    const [next] = await world.talk(1, { from: 9 });
    expect(next?.end).toBe("done");
    await expectSame(world);
  });

  test("a turn that fails after a fold inside it leaves notes of what it did", async () => {
    const world = await openWorld(open, working());
    await world.talk(2, { tokens: 400 });
    const { provider } = world.deps;
    let isCompacted = false;
    const deps: Deps = {
      ...world.deps,
      provider: {
        send: (call) => {
          if (world.payloads("compaction.completed").length > 0 && !isCompacted) {
            isCompacted = true;
            world.simulator.fault({ kind: "server error" });
          }
          return provider.send(call);
        },
      },
    };
    const run = await world.sayTo(deps, "Read every part, port 4177 first.", { id: "long" });
    expect(run.end).toBe("failed");
    expect(await world.folds()).toMatchObject([{ firstKeptTurnId: "long" }]);
    expect(messagesOf(world.session).map(textOf).join("\n")).toContain("port 4177 first");
    await expectSame(world);
    const next = await world.say("Go on.");
    expect(next.end).toBe("done");
    await expectSame(world);
  });

  test.each<[string, WorldOptions]>([
    ["before a turn", { settings: compactionsSoon }],
    ["inside a turn", working()],
    ["inside a turn that thinks", { ...working(), ...opus }],
  ])(
    "a process that dies after a fold %s is gone on from by another one, with the same bytes",
    async (_, options) => {
      for (const crashAt of ["send", "append"] as const) {
        const world = await openWorld(open, options);
        if (options.speak === undefined) await world.talk(7);
        else await world.talk(2, { tokens: 400 });
        const lost = await crash(world, crashAt);
        await world.restart();
        const sent = world.bodies.length;
        const run = await world.resumeTurn();
        expect(run.end).toBe("done");
        expect(run.calls.map(({ failure }) => failure)).toEqual(run.calls.map(() => null));
        expect(untimed(world.bodies[sent]?.text ?? "")).toBe(untimed(lost));
        await expectSame(world);
        const next = await world.say("And now?");
        expect(next.end).toBe("done");
        await expectSame(world);
      }
    },
  );

  test("a fork of a folded session is shown what it was, and both go on by themselves", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(9);
    const { ledger } = world.store;
    await ledger.forkSession({ id: "fork", from: { sessionId } });
    const fork = await resumeSession(ledger, "fork", world.setup);
    expect(fork.thread.end).toEqual(world.session.thread.end);
    const original = world.session;
    world.session = fork;
    await world.talk(6, { from: 20 });
    const { key } = world.session.thread.end;
    expect((await resumeSession(ledger, "fork", world.setup)).thread.end.key).toBe(key);
    expect(await ledger.readCompactions("fork")).toHaveLength(1);
    world.session = original;
    await world.talk(2, { from: 30 });
    await expectSame(world);
  });

  test("a folded session is exported and imported with its folds, its notes and what they hide", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(9);
    const written = await lines(world.store.ledger, sessionId);
    const elsewhere = await createLedger(openSqlite({ file: ":memory:" }));
    await elsewhere.importSession(eachOf(written), { isTrusted: true });
    const copy = await resumeSession(elsewhere, sessionId, world.setup);
    expect(copy.thread.end).toEqual(world.session.thread.end);
    expect(await elsewhere.readCompactions(sessionId)).toEqual(await world.folds());
    const { hits } = await elsewhere.searchHistory({ sessionId, text: "src/module-2.ts" });
    expect(hits[0]?.excerpt).toContain("src/module-2.ts");
    expect(await all(elsewhere.check())).toEqual([]);
    world.session = copy;
    const run = await world.sayTo({ ...world.deps, ledger: elsewhere }, "Hello from there.");
    expect(run.end).toBe("done");
    expect(await all(elsewhere.check())).toEqual([]);
    await elsewhere.close();
  });

  test("a model that binds its thinking takes folded histories, before turns, inside them and after restarts", async () => {
    const world = await openWorld(open, {
      ...working(),
      ...opus,
      auto: { turnsBetweenMin: 0, callsBetweenMin: 0, compactionsMax: 100 },
    });
    for (let number = 1; number <= 6; number += 1) {
      const run = await world.say(`Round ${number}: Read everything.`, { callsMax: 40 });
      expect(run.calls.map(({ failure }) => failure)).toEqual(run.calls.map(() => null));
      expect(run.end).toBe("done");
      if (number % 2 === 0) await world.restart();
    }
    const folds = await world.folds();
    expect(folds.length).toBeGreaterThan(3);
    // Without thoughts in the thread nothing was shown here.
    const blocks = messagesOf(world.session).flatMap(({ content }) => content);
    expect(blocks.some(({ type }) => type === "thinking")).toBe(true);
    await expectSame(world);
  });

  test("text that stands before the words of a turn is told once, also after a fold before it", async () => {
    const world = await openWorld(open, {
      settings: compactionsSoon,
      setup: { policy: findPolicy("nexus") },
    });
    await world.talk(9);
    expect(await world.folds()).toHaveLength(1);
    const asked = messagesOf(world.session)
      .map(textOf)
      .filter((text) => text.includes("Step 8"));
    expect(asked.at(-1)?.match(/Current time/g)).toHaveLength(1);
    await expectSame(world);
  });

  test.each(["at a turn's edge", "inside a turn"])(
    "what the provider folds itself %s is taken by a model that binds its thinking",
    async (where) => {
      const world = await openWorld(open, {
        ...opus,
        tools: [fileTool("read")],
        speak: reads({ steps: 3, tokens: 1_300 }),
        settings: { mayUseProvider: true },
      });
      if (where === "inside a turn") await world.say("Read three of them.");
      else await world.talk(7);
      expect((await world.compact()).kind).toBe("compacted");
      expect(await world.folds()).toMatchObject([{ trigger: "manual", kind: "summary" }]);
      for (const text of ["Read them again.", "And now?"]) {
        const run = await world.say(text);
        expect(run.calls.map(({ failure }) => failure)).toEqual(run.calls.map(() => null));
        await expectSame(world);
      }
    },
  );

  test("what is thrown in the middle of a fold leaves a turn that can be gone on with at once", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    await world.talk(7);
    const { provider } = world.deps;
    const deps: Deps = {
      ...world.deps,
      provider: {
        send: (call) => {
          if (bodyText(call.request.pieces).includes("Write a summary")) throw new Crash();
          return provider.send(call);
        },
      },
    };
    await expect(world.sayTo(deps, words(1_000, "eight"))).rejects.toMatchObject({
      cause: expect.any(Crash),
    });
    await world.restart();
    const run = await world.resumeTurn();
    expect(run.end).toBe("done");
    expect(await world.folds()).toHaveLength(1);
    await expectSame(world);
  });

  test("the call after a fold reads what was there before the history, and later ones all that was sent", async () => {
    const world = await openWorld(open, { settings: compactionsSoon });
    const runs = await world.talk(12);
    const calls = runs.flatMap((run) => run.calls);
    expect(calls.map(({ verdict }) => verdict?.kind)).toEqual(calls.map(() => "as expected"));
    const foundation = world.session.thread.foundation.end.tokens;
    const read = calls.map(({ usage }) => usage?.cacheReadTokens ?? 0);
    expect(Math.abs((read[7] ?? 0) - foundation)).toBeLessThan(0.1 * foundation);
    for (const [index, call] of calls.entries()) {
      const { expected } = call.plan;
      if (index === 7) continue;
      expect(expected.readTokens).toBe(read[index]);
      const before = calls[index - 1]?.usage;
      if (before == null) continue;
      const written = Object.values(before.cacheWriteTokens).reduce((sum, each) => sum + each, 0);
      expect(read[index]).toBe(before.cacheReadTokens + written);
    }
  });
}

const opus: WorldOptions = { model: "claude-opus-5-5", windowTokens: 24_000 };

/** Turns of many calls, compacted where they stand. */
function working(): WorldOptions {
  return {
    settings: compactionsSoon,
    tools: [fileTool("read")],
    speak: reads({ steps: 12, tokens: 800 }),
    auto: { callsBetweenMin: 6, compactionsMax: 100 },
  };
}

/** What holds now is told anew by whoever goes on. */
function untimed(body: string): string {
  return body.replace(/Current time: [^\\]+/, "Current time: now");
}

class Crash extends Error {}

/** Runs a turn until it is compacted, and ends it before its next call is sent or recorded. The body that was not answered. */
async function crash(world: World, at: "send" | "append"): Promise<string> {
  const before = (await world.folds()).length;
  let isCompacted = false;
  let lost = "";
  const { provider, ledger } = world.deps;
  const guarded: Ledger = {
    ...ledger,
    openTurn: async (turn) => {
      const opened = await ledger.openTurn(turn);
      return {
        ...opened,
        get parentTurnId() {
          return opened.parentTurnId;
        },
        append: (entry, more) => {
          if (at === "append" && isCompacted) throw new Crash();
          return opened.append(entry, more);
        },
      };
    },
  };
  const deps: Deps = {
    ...world.deps,
    ledger: guarded,
    provider: {
      send: async (call) => {
        isCompacted = (await ledger.readCompactions(sessionId)).length > before;
        if (at === "send" && isCompacted) {
          lost = bodyText(call.request.pieces);
          throw new Crash();
        }
        const sent = await provider.send(call);
        if (isCompacted) lost = world.bodies.at(-1)?.text ?? "";
        return sent;
      },
    },
  };
  const request = `Read every part. ${words(1_000, "lost")}`;
  await expect(world.sayTo(deps, request, { id: "lost" })).rejects.toMatchObject({
    cause: expect.any(Crash),
  });
  return lost;
}
