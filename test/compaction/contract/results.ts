// Results of tools: cut when they are too large, cleared when they are old (CF-E, N-28).
import { expect, test } from "vitest";
import type { Message, ToolResultBlock } from "../../../src/core/message/message.ts";
import { historyTools } from "../../../src/edge/tools/history-tools.ts";
import type { Tool } from "../../../src/core/tools/tool.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { callsTool, isAsked, reply, thinking } from "../speakers.ts";
import { expectSame, messagesOf, readMessages } from "../looks.ts";
import { compactionsSoon, openWorld, sessionId, type WorldOptions } from "../test-kit.ts";
import { fileText, fileTool } from "../tools.ts";

export function resultsContract(open: OpenLedger): void {
  test("CF-E: a result above its share of the window is cut, is sent and replayed so, and can be read whole", async () => {
    const store = await open();
    const world = await openWorld(() => Promise.resolve(store), {
      tools: [fileTool("read"), ...historyTools({ ledger: store.ledger })],
      speak: readsOnce("big.ts", 7_000),
    });
    const run = await world.say("Read the big one.");
    expect(run.end).toBe("done");
    const [result] = resultsOf(messagesOf(world.session));
    const whole = fileText("big.ts", 7_000);
    const text = textIn(result);
    expect(text.length).toBeLessThan(0.95 * whole.length);
    expect(text.startsWith("big.ts\n")).toBe(true);
    expect(text.endsWith("end of big.ts")).toBe(true);
    expect(text).toContain(`history_read with tool_use_id "${result?.toolUseId}" shows it whole`);
    expect(world.bodies.at(-1)?.text).toContain(JSON.stringify(text).slice(1, -1));
    expect(await readMessages(store.ledger)).toEqual(messagesOf(world.session));
    expect(world.payloads("compaction.completed")).toMatchObject([
      { outcome: "tool_result_truncated" },
    ]);
    expect(await readWhole(store.ledger, result?.toolUseId ?? "")).toContain(
      whole.slice(whole.length / 2, whole.length / 2 + 400),
    );
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
    expect(await world.violations()).toEqual([]);
  });

  test("CF-E: a result below its share stays as it is", async () => {
    const world = await openWorld(open, {
      tools: [fileTool("read")],
      speak: readsOnce("small.ts", 5_000),
    });
    await world.say("Read the small one.");
    const [result] = resultsOf(messagesOf(world.session));
    expect(textIn(result)).toBe(fileText("small.ts", 5_000));
    expect(world.payloads("compaction.completed")).toEqual([]);
  });

  test("CF-E: of many results in one reply only those that are too large are cut", async () => {
    const world = await openWorld(open, {
      tools: [fileTool("read")],
      speak: (prompt) =>
        isAsked(prompt)
          ? callsTool("read", { path: "a.ts", tokens: 300 }, { path: "b.ts", tokens: 7_000 })
          : reply("Read."),
    });
    await world.say("Read both.");
    const [small, large] = resultsOf(messagesOf(world.session)).map(textIn);
    expect(small).toBe(fileText("a.ts", 300));
    expect(large).toContain("bytes are left out here");
    expect(large).toContain("run the tool again");
  });

  test("CF-E: old results of bulky tools are cleared, others and recent ones are not", async () => {
    const world = await openWorld(open, clearing());
    for (let number = 1; number <= 8; number += 1) await world.say(`Read number ${number}.`);
    const folds = await world.folds();
    expect(folds.map(({ kind }) => kind)).toEqual(["selective"]);
    expect(folds[0]).toMatchObject({ costPicoUsd: 0n, inputTokens: 0 });
    expect(world.bodies.filter(({ wants }) => wants === "summary")).toEqual([]);
    const texts = resultsOf(messagesOf(world.session)).map(textIn);
    const isCleared = texts.map((text) =>
      /^\[Old output of read, \d+ bytes, was cleared/.test(text),
    );
    // Two tools at a time: one that may be cleared, and one that may not.
    expect(isCleared.filter((_, index) => index % 2 === 1)).toEqual(Array(8).fill(false));
    const bulky = isCleared.filter((_, index) => index % 2 === 0);
    expect(bulky.slice(0, 2)).toEqual([true, true]);
    expect(bulky.slice(-1)).toEqual([false]);
    expect(texts[1]).toBe(fileText("other-1.ts", 50));
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
    expect(world.payloads("compaction.completed")).toMatchObject([
      { outcome: "tool_result_microcompact" },
    ]);
  });

  test("CF-E: a model that binds its thinking takes a history with cleared results", async () => {
    const world = await openWorld(open, { ...clearing(), model: "claude-opus-5-5" });
    for (let number = 1; number <= 9; number += 1) {
      const run = await world.say(`Read number ${number}.`);
      expect(run.calls.map(({ failure }) => failure)).toEqual(run.calls.map(() => null));
    }
    expect((await world.folds()).map(({ kind }) => kind)).toContain("selective");
    await expectSame(world);
  });

  test("CF-E: what is cleared is never cleared again, and still there for searches", async () => {
    const world = await openWorld(open, clearing());
    for (let number = 1; number <= 16; number += 1) await world.say(`Read number ${number}.`);
    const folds = await world.folds();
    expect(folds.length).toBeGreaterThan(1);
    const cleared = resultsOf(messagesOf(world.session))
      .map(textIn)
      .filter((text) => text.startsWith("[Old output of read"));
    for (const text of cleared) expect(text).toMatch(/ 5\d\d\d bytes/);
    const { hits } = await world.store.ledger.searchHistory({ sessionId, text: "bulk-1.ts" });
    expect(hits[0]?.excerpt).toContain("bulk-1.ts");
    expect(await world.violations()).toEqual([]);
  });
}

function clearing(): WorldOptions {
  let files = 0;
  return {
    tools: [fileTool("read"), fileTool("inspect")],
    speak: (prompt) => {
      if (!isAsked(prompt)) return thinking(prompt, reply("Read."));
      files += 1;
      const both = [
        callsTool("read", { path: `bulk-${files}.ts`, tokens: 1_150 }),
        callsTool("inspect", { path: `other-${files}.ts`, tokens: 50 }),
      ];
      return thinking(prompt, { parts: both.flatMap(({ parts }) => parts), stop: "tool use" });
    },
    settings: {
      ...compactionsSoon,
      compactAtShare: 0.6,
      clearing: {
        thresholdBytes: 4_000,
        tools: ["read"],
        resultsKept: 2,
        gainTokensMin: 1_000,
        gainShareMin: 0.1,
      },
    },
    auto: { turnsBetweenMin: 0, callsBetweenMin: 0, compactionsMax: 100 },
  };
}

function readsOnce(path: string, tokens: number): NonNullable<WorldOptions["speak"]> {
  return (prompt) => (isAsked(prompt) ? callsTool("read", { path, tokens }) : reply("Read it."));
}

function resultsOf(messages: readonly Message[]): readonly ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
}

function textIn(result: ToolResultBlock | undefined): string {
  return (result?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** As an agent would, page by page. */
async function readWhole(ledger: Ledger, toolUseId: string): Promise<string> {
  const read = historyTools({ ledger }).find(
    ({ definition }) => definition.name === "history_read",
  );
  return (await read?.run({ tool_use_id: toolUseId }, callOf(toolUseId)))?.text ?? "";
}

function callOf(toolUseId: string): Parameters<Tool["run"]>[1] {
  const { signal } = new AbortController();
  return { sessionId, turnId: "any", toolUseId, role: "unified", signal };
}
