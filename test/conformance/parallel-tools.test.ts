// Goal: consecutive requests of a loop share an end, however many tools run in parallel (C-1, CF-A).
import { describe, expect, test } from "vitest";
import { assemble } from "../../src/core/assembly/assemble.ts";
import { buildFoundation } from "../../src/core/assembly/foundation.ts";
import { appendMessages, openThread } from "../../src/core/assembly/thread.ts";
import type { CachePlan } from "../../src/core/cache/cache-plan.ts";
import { openCacheState } from "../../src/core/cache/cache-state.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import { openPace, type PaceKind } from "../../src/core/cache/pace.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { PolicyName } from "../../src/core/cache/policy.ts";
import type { Message } from "../../src/core/message/message.ts";
import {
  bedrock,
  claude,
  counterOf,
  encode,
  longText,
  markersIn,
  say,
  startMs,
  tool,
  toolResult,
  toolUse,
  type Wire,
} from "./test-kit.ts";

interface LoopCall {
  readonly plan: CachePlan;
  readonly text: string;
  readonly body: unknown;
}

/**
 * One question and a loop of calls, each with so many parallel tools. Block 0 is the tool, 1 the system
 * prompt, 2 the question; then the uses and the results of each call.
 */
function runLoop(
  policyName: PolicyName,
  wire: Wire,
  callCount: number,
  parallel: number,
  pace: PaceKind = "human",
): LoopCall[] {
  const { protocol, model } = wire;
  const { layout } = findPolicy(policyName);
  const foundation = buildFoundation({
    tools: [tool("read_file", "Reads it.")],
    system: [{ label: "static", tier: "T1", text: longText }],
    spelling: protocol.spelling(model),
    counter: counterOf(model),
    model,
  });
  let thread = openThread(foundation);
  let current: readonly Message[] = [say("user", "Read them all.")];
  let state = openCacheState();
  return Array.from({ length: callCount }, (_, index) => {
    const assembly = assemble({ thread, current, volatile: null, layout, model });
    const { plan, text, body } = encode(policyName, assembly, wire, {
      state,
      pace: openPace(pace),
      now: startMs + index * 10_000,
    });
    const { readTokens, writeTokens, uncachedTokens } = plan.expected;
    state = learnFromReply({
      state,
      plan,
      blocks: assembly.blocks,
      rules: model.cache,
      usage: {
        uncachedTokens,
        cacheReadTokens: readTokens,
        cacheWriteTokens: writeTokens,
        outputTokens: 10,
        reasoningTokens: 0,
      },
      reportsCache: true,
      startMs: startMs + index * 10_000,
    }).state;
    const ids = Array.from({ length: parallel }, (__, number) => `t${index}-${number}`);
    thread = appendMessages(assembly.thread, [
      say("assistant", ...ids.map((id) => toolUse(id, "read_file", `{"path":"${id}"}`))),
    ]);
    current = ids.map((id) => toolResult(id, `The text of ${id}.`));
    return { plan, text, body };
  });
}

const hitsOf = (calls: readonly LoopCall[]): readonly (number | null)[] =>
  calls.map(({ plan }) => plan.expected.hitBlock);

describe("28 parallel tools", () => {
  test.each(["human", "tool loop", "worker"] as const)(
    "adaptive reads up to the last call's tail where every block is a position: %s",
    (pace) => {
      expect(hitsOf(runLoop("adaptive", bedrock, 4, 28, pace))).toEqual([null, 2, 58, 114]);
    },
  );

  test.each(["adaptive", "metis", "tail-5m", "hermes", "last-n", "nexus"] as const)(
    "%s reads up to the last call's tail where a run of tool blocks is one position",
    (policy) => {
      expect(hitsOf(runLoop(policy, claude, 4, 28))).toEqual([null, 2, 58, 114]);
    },
  );

  test("a policy that marks the tail alone reads nothing where every block is a position, one with a stable marker the system prompt", () => {
    expect(hitsOf(runLoop("tail-5m", bedrock, 4, 28))).toEqual([null, null, null, null]);
    expect(hitsOf(runLoop("metis", bedrock, 4, 28))).toEqual([null, 1, 1, 1]);
  });

  test("adaptive marks the place where a worker's last call ended, or the block after it", () => {
    const marked = runLoop("adaptive", bedrock, 4, 28, "worker").map(({ plan }) =>
      plan.markers.map(({ block }) => block),
    );
    expect(marked[1]).toContain(2);
    expect(marked[2]).toContain(58);
    // A step, from which the provider looks back one block.
    expect(marked[3]).toContain(115);
  });

  test("adaptive marks the new tail, and within 20 positions behind the old one, with four markers at most", () => {
    const tails = [2, 58, 114, 170];
    for (const [index, { plan, body }] of runLoop("adaptive", bedrock, 4, 28).entries()) {
      const places = plan.markers.map(({ block }) => block);
      expect(places.at(-1)).toBe(tails[index]);
      const before = tails[index - 1] ?? 1;
      const inSight = places.filter((place) => place >= before && place < before + 20);
      expect(inSight.length).toBeGreaterThan(0);
      expect(Object.keys(markersIn(body)).length).toBeLessThanOrEqual(4);
    }
  });

  test.each([
    ["adaptive", bedrock],
    ["metis", claude],
  ] as const)(
    "%s: each request begins with the bytes of the one before it, without markers (H-11)",
    (policy, wire) => {
      const bytes = runLoop(policy, wire, 4, 28).map(({ text }) => withoutMarkers(text));
      for (const [index, text] of bytes.slice(1).entries()) {
        const before = bytes[index] ?? "";
        // The last message of a body is closed by two brackets and two braces that the next one does not have there.
        expect(text.startsWith(before.slice(0, -"]}]}".length))).toBe(true);
        expect(text.length).toBeGreaterThan(before.length + 28 * 50);
      }
    },
  );
});

test.each([1, 5, 19, 20, 21, 60])(
  "adaptive reads up to the last tail with %i parallel tools on either way of counting",
  (parallel) => {
    const expected = [null, 2, 2 + 2 * parallel, 2 + 4 * parallel];
    expect(hitsOf(runLoop("adaptive", bedrock, 4, parallel))).toEqual(expected);
    expect(hitsOf(runLoop("adaptive", claude, 4, parallel))).toEqual(expected);
  },
);

function withoutMarkers(text: string): string {
  return text.replaceAll(/,"cache_control":\{"type":"ephemeral"(,"ttl":"1h")?\}/g, "");
}
