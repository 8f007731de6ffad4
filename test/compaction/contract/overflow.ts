// A provider that finds the prompt too long: one harder compaction, one more try, and then a clear error (CF-E, X-13).
import { expect, test } from "vitest";
import { openaiChat } from "../../../src/core/wire/openai/chat/index.ts";
import { openaiResponses } from "../../../src/core/wire/openai/responses/index.ts";
import { noUsage, promptTokens } from "../../../src/core/message/usage.ts";
import { cheapCounter } from "../../../src/core/tokens/cheap-counter.ts";
import { noSizes } from "../../../src/core/tokens/learned-sizes.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { writesSummaries } from "../speakers.ts";
import { openWorld, type World, type WorldOptions } from "../test-kit.ts";
import { fileTool, reads } from "../tools.ts";

const tooLong = { kind: "overflow", tokens: 213_462, tokensMax: 200_000 } as const;

export function overflowContract(open: OpenLedger): void {
  test.each<[string, WorldOptions]>([
    ["anthropic-messages", {}],
    ["openai-chat", { model: "gpt-5.5", protocol: openaiChat }],
    ["openai-responses", { model: "gpt-6.1-sol", protocol: openaiResponses }],
  ])("CF-E: on %s a prompt that is too long is folded and sent once more", async (_, options) => {
    const world = await openWorld(open, options);
    await world.talk(7);
    world.simulator.fault(tooLong);
    const [run] = await world.talk(1, { from: 8 });
    expect(run?.end).toBe("done");
    expect(run?.calls.map(({ status, failure }) => [status, failure?.kind])).toEqual([
      ["failed", "context-overflow"],
      ["complete", undefined],
    ]);
    const [first, second, ...more] = repliesOf(world).slice(7);
    expect(more).toEqual([]);
    expect(second?.length).toBeLessThan(0.7 * (first?.length ?? 0));
    expect(await world.folds()).toMatchObject([{ trigger: "overflow_recovery", kind: "summary" }]);
    expect(await world.violations()).toEqual([]);
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
  });

  test("B-11: a limit that the provider names in a refusal is the window from then on, also after a restart", async () => {
    const world = await openWorld(open, { windowTokens: 60_000 });
    await world.talk(4);
    expect(world.session.model.windowTokens).toBe(60_000);
    world.simulator.fault({ kind: "overflow", tokens: 21_000, tokensMax: 12_000 });
    const [run] = await world.talk(1, { from: 5 });
    expect(run?.end).toBe("done");
    expect(world.session.model).toMatchObject({ windowTokens: 12_000, inputTokensMax: 12_000 });
    expect((await world.restart()).model.windowTokens).toBe(12_000);
    const later = await world.talk(7, { from: 6 });
    expect(later.map(({ end }) => end)).toEqual(later.map(() => "done"));
    expect((await world.folds())[0]?.trigger).toBe("context_limit");
  });

  test("C-8: bills teach a factor for estimates, which is stored with the session and used by the next call", async () => {
    const low = { count: (text: string) => Math.round(0.8 * cheapCounter.count(text)) };
    const world = await openWorld(open, { windowTokens: 200_000, setup: { counter: low } });
    await world.talk(16);
    const { sizes } = world.session;
    expect(sizes.calibration.factor).toBeGreaterThan(1.05);
    expect((await world.restart()).sizes).toEqual(sizes);
    const missed = async (from: number): Promise<number> => {
      const [run] = await world.talk(1, { from, tokens: 8_000 });
      const estimated = world.payloads("llm.call_started").at(-1)?.estimated_input_tokens ?? 0;
      return Math.abs(promptTokens(run?.calls[0]?.usage ?? noUsage) - estimated);
    };
    const learned = await missed(17);
    world.session = { ...world.session, sizes: noSizes };
    const plain = await missed(18);
    expect(learned).toBeLessThan(0.8 * plain);
  });

  test("CF-E: a second overflow is an error that says the numbers, and the session goes on", async () => {
    const world: World = await openWorld(open, {
      summary: (prompt) => {
        world.simulator.fault(tooLong);
        return writesSummaries(prompt);
      },
    });
    await world.talk(7);
    world.simulator.fault(tooLong);
    const [run] = await world.talk(1, { from: 8 });
    expect(run?.end).toBe("failed");
    expect(repliesOf(world)).toHaveLength(9);
    expect(run?.calls.at(-1)?.failure).toMatchObject({
      kind: "context-overflow",
      tokens: 213_462,
      tokensMax: 200_000,
    });
    const [told] = world.payloads("turn.failed");
    expect(told?.error_kind).toBe("context_overflow");
    expect(told?.error_message_redacted).toMatch(/213462.*200000/);
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
    const [next] = await world.talk(1, { from: 9 });
    expect(next?.end).toBe("done");
    expect(await world.violations()).toEqual([]);
  });

  test("CF-E: what cannot be made shorter is an error at once", async () => {
    const world = await openWorld(open);
    world.simulator.fault(tooLong);
    const [run] = await world.talk(1);
    expect([run?.end, run?.calls.length, world.bodies.length]).toEqual(["failed", 1, 1]);
    expect(run?.calls[0]?.failure?.kind).toBe("context-overflow");
    expect(await world.folds()).toEqual([]);
    const [next] = await world.talk(1, { from: 2 });
    expect(next?.end).toBe("done");
  });

  test("CF-E: a body that is too large (413) is folded without a model where none can be shown it", async () => {
    const world = await openWorld(open, { bodyBytesMax: 42_000 });
    const runs = await world.talk(9);
    expect(runs.map(({ end }) => end)).toEqual(runs.map(() => "done"));
    const failures = runs.flatMap(({ calls }) => calls.map(({ failure }) => failure?.kind));
    expect(failures.filter((kind) => kind === "request-too-large")).toHaveLength(1);
    expect(await world.folds()).toMatchObject([{ trigger: "overflow_recovery" }]);
  });

  test("CF-E: a turn that works with tools is folded where it stands, and tried once more", async () => {
    const world = await openWorld(open, {
      tools: [fileTool("read")],
      speak: reads({ steps: 6, tokens: 900 }),
    });
    await world.talk(1, { tokens: 100 });
    let asked = 0;
    const { provider } = world.deps;
    const deps = {
      ...world.deps,
      provider: {
        send: (call: Parameters<typeof provider.send>[0]) => {
          if ((asked += 1) === 5) world.simulator.fault(tooLong);
          return provider.send(call);
        },
      },
    };
    const run = await world.sayTo(deps, "Read them all.");
    expect(run.end).toBe("done");
    expect(run.calls.filter(({ failure }) => failure !== null)).toHaveLength(1);
    expect(await world.folds()).toMatchObject([{ trigger: "overflow_recovery" }]);
    expect(await world.violations()).toEqual([]);
    const { key } = world.session.thread.end;
    expect((await world.restart()).thread.end.key).toBe(key);
  });
}

/** Everything sent but requests for summaries. */
function repliesOf({ bodies }: World): readonly string[] {
  return bodies.filter(({ wants }) => wants === "reply").map(({ text }) => text);
}
