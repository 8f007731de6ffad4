// Goal: a provider is never asked for more than it takes, and everything left out is reported (CF-A).
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openCacheState } from "../../src/core/cache/cache-state.ts";
import { openPace } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { policyNames } from "../../src/core/cache/policy.ts";
import type { Block } from "../../src/core/message/message.ts";
import { lifetimes, type Lifetime } from "../../src/core/message/usage.ts";
import {
  bedrock,
  claude,
  claude2,
  gptChat,
  gptResponses,
  large,
  longText,
  markersIn,
  minimax,
  openrouter,
  options,
  rules,
  say,
  section,
  send,
  small,
  solResponses,
  startMs,
  tool,
  wires,
  type Prompt,
  type Wire,
} from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };
const overLimit = "over the provider's limit";

/** Six messages, each long enough for itself. */
const sixMessages: Prompt = {
  ...small,
  history: [1, 2, 3, 4, 5].map((number) =>
    say(number % 2 === 1 ? "user" : "assistant", `Message ${number}. ${longText}`),
  ),
  current: [say("assistant", "Message 6."), say("user", "Message 7.")],
};

describe("at most four markers go out (M-11, N-11, H-04)", () => {
  test("of seven candidates the first four by rank are sent, and three dropped with the reason", () => {
    const markers = rules(
      [{ at: "last stable system block" }, "5m"],
      [{ at: "last messages", count: 6 }, "5m"],
    );
    const { body, plan } = send("metis", sixMessages, claude, { markers });
    expect(markersIn(body)).toEqual({
      "system.0": fiveMinutes,
      "messages.4.content.0": fiveMinutes,
      "messages.5.content.0": fiveMinutes,
      "messages.6.content.0": fiveMinutes,
    });
    expect(plan.dropped).toEqual([
      { block: 4, lifetime: "5m", slot: "rule", reason: overLimit },
      { block: 3, lifetime: "5m", slot: "rule", reason: overLimit },
      { block: 2, lifetime: "5m", slot: "rule", reason: overLimit },
    ]);
  });

  test("markers that stand in a foreign request count, and the least important of ours gives way", () => {
    const present = [
      { block: 5, lifetime: "5m" as const },
      { block: 9, lifetime: "5m" as const },
    ];
    // Three tools, stable and volatile system text, then eight blocks of messages: the tail is block 12.
    const { plan } = send("metis", large, claude, { present });
    expect(plan.markers.map(({ block, slot }) => [block, slot])).toEqual([
      [3, "head"],
      [5, "present"],
      [9, "present"],
      [12, "tail"],
    ]);
    expect(plan.dropped).toEqual([{ block: 2, lifetime: "5m", slot: "head", reason: overLimit }]);
  });

  test("a foreign marker where ours would stand is one marker", () => {
    const { plan } = send("metis", large, claude, { present: [{ block: 3, lifetime: "5m" }] });
    expect(plan.markers.map(({ block, slot }) => [block, slot])).toEqual([
      [2, "head"],
      [3, "present"],
      [12, "tail"],
    ]);
    expect(plan.dropped).toEqual([
      { block: 3, lifetime: "5m", slot: "head", reason: "the same place as another marker" },
    ]);
  });

  test.each(Object.entries(wires))(
    "%s: for any request and any policy, lifetimes never rising where that is refused (CF-B)",
    (_, wire) => {
      fc.assert(
        fc.property(fc.constantFrom(...policyNames), anyPrompt, (policy, prompt) => {
          const { body, plan } = send(policy, prompt, wire);
          const sent = Object.keys(markersIn(body)).length;
          const own = plan.mode === "implicit" ? 1 : 0;
          expect(sent + own).toBeLessThanOrEqual(4);
          expect(sent).toBe(plan.markers.length + (plan.requestMarker === null ? 0 : 1));
          const lives = plan.markers.map(({ lifetime }) => lifetimes.indexOf(lifetime));
          const falling = lives.toSorted((left, right) => right - left);
          expect(wire.model.cache.markers?.lifetimeOrder === "any" ? falling : lives).toEqual(
            falling,
          );
        }),
        { numRuns: 150 },
      );
    },
  );
});

const anyText = fc.constantFrom("", "  ", "Short.", longText, "é😀 and more");
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  anyText.map((text): Block => ({ type: "text", text })),
  anyText.map((text): Block => ({ type: "thinking", text, signature: "c2ln" })),
  fc.constant<Block>({ type: "tool_use", id: "t1", name: "bash", inputJson: "{}" }),
  anyText.map((text): Block => ({
    type: "tool_result",
    toolUseId: "t1",
    content: [{ type: "text", text }],
    isError: false,
  })),
);
const anyMessages = fc.array(
  fc.record({
    role: fc.constantFrom("user", "assistant", "tool"),
    content: fc.array(anyBlock, { maxLength: 4 }),
  }),
  { maxLength: 8 },
);
const anyPrompt: fc.Arbitrary<Prompt> = fc.record({
  sections: fc.array(
    fc.record({
      name: fc.constantFrom("rules", "skills", "event"),
      layer: fc.constantFrom("workspace", "session", "memory", "event"),
      stability: fc.constantFrom("static", "session", "turn"),
      text: anyText,
    }),
    { maxLength: 5 },
  ),
  tools: fc.uniqueArray(
    fc.constantFrom("b", "a", "d", "c").map((name) => tool(name, longText)),
    {
      selector: ({ name }) => name,
    },
  ),
  history: anyMessages,
  current: anyMessages,
});

describe("a model without markers (N-14)", () => {
  const ruled = policyNames.filter((name) => !["adaptive", "none"].includes(name));
  const takesNone: Readonly<Record<string, Wire>> = {
    "claude-2.1": claude2,
    "gpt-5.5 in Chat Completions": gptChat,
    "gpt-5.5 in Responses": gptResponses,
  };

  describe.each(Object.entries(takesNone))("%s", (_, wire) => {
    test.each(ruled)("%s: gets none, and the plan lists each that it dropped", (policy) => {
      const { body, plan } = send(policy, large, wire);
      expect(markersIn(body)).toEqual({});
      expect(plan.dropped.length).toBeGreaterThan(0);
      for (const { reason } of plan.dropped) expect(reason).toBe("the provider takes no markers");
    });

    test("gets none of a plan that was made for another model, and the request has a note", () => {
      const { assembly } = send("metis", large, wire);
      const { plan } = send("metis", large, claude);
      const request = wire.protocol.encode({ assembly, plan, model: wire.model, options });
      expect(markersIn(request.toObject())).toEqual({});
      expect(request.notes.map(({ kind }) => kind)).toEqual(["markers-stripped"]);
    });
  });
});

describe("the marker of the whole request", () => {
  const beside = rules([{ at: "request" }, "5m"], [{ at: "last messages", count: 6 }, "5m"]);

  test("takes one of the four", () => {
    const { body, plan } = send("automatic", sixMessages, claude, { markers: beside });
    expect(markersIn(body)).toEqual({
      request: fiveMinutes,
      "messages.4.content.0": fiveMinutes,
      "messages.5.content.0": fiveMinutes,
      "messages.6.content.0": fiveMinutes,
    });
    expect(plan.dropped.map(({ block, reason }) => [block, reason])).toEqual([
      [4, overLimit],
      [3, overLimit],
      [2, overLimit],
    ]);
  });

  test.each([
    ["Bedrock", bedrock],
    ["OpenRouter", openrouter],
    ["another vendor", minimax],
    ["a provider that marks by itself", solResponses],
  ])("is refused and reported where it is not taken: %s (M-17)", (_, wire) => {
    const { body, plan } = send("automatic", small, wire);
    expect(plan.requestMarker).toBeNull();
    expect(markersIn(body)).toEqual({});
    expect(plan.dropped).toEqual([
      {
        block: 1,
        lifetime: "5m",
        slot: "rule",
        reason: "the provider takes no marker for a whole request",
      },
    ]);
  });
});

describe("a lifetime that is not offered (C-5, H-10)", () => {
  const table: readonly (readonly [string, Wire, Lifetime, Lifetime])[] = [
    ["5m and 1h", claude, "5m", "5m"],
    ["5m and 1h", claude, "30m", "5m"],
    ["5m and 1h", claude, "1h", "1h"],
    ["5m and 1h", claude, "12h", "1h"],
    ["5m and 1h", claude, "24h", "1h"],
    ["5m alone", minimax, "5m", "5m"],
    ["5m alone", minimax, "30m", "5m"],
    ["5m alone", minimax, "1h", "5m"],
    ["5m alone", minimax, "24h", "5m"],
    ["30m and 12h", solResponses, "5m", "30m"],
    ["30m and 12h", solResponses, "30m", "30m"],
    ["30m and 12h", solResponses, "1h", "30m"],
    ["30m and 12h", solResponses, "12h", "12h"],
    ["30m and 12h", solResponses, "24h", "12h"],
  ];

  test.each(table)(
    "of %s becomes the nearest that is not longer, or the shortest",
    (_, wire, asked, got) => {
      const markers = rules([{ at: "last stable system block" }, asked]);
      const { plan } = send("metis", small, wire, { markers });
      expect(plan.markers.map(({ lifetime }) => lifetime)).toEqual([got]);
    },
  );

  test("nexo's hours become five minutes on the wire where there are no others", () => {
    expect(markersIn(send("nexo", large, minimax).body)).toEqual({
      "tools.2": fiveMinutes,
      "system.2": fiveMinutes,
      "system.3": fiveMinutes,
    });
  });

  test("nexo's hours become thirty minutes where the provider offers those and twelve hours", () => {
    expect(markersIn(send("nexo", large, solResponses).body)).toEqual({
      "input.2.content.0": { mode: "explicit" },
      "input.3.content.0": { mode: "explicit" },
    });
  });
});

describe("a shorter lifetime before a longer one (B-08, C-5)", () => {
  test("is raised, because the provider refuses it", () => {
    const { plan } = send("hermes", large);
    expect(plan.markers.map(({ lifetime }) => lifetime)).toEqual(["1h", "1h", "5m", "5m"]);
    expect(plan.markers[0]?.reason).toBe("end of the tools; raised to 1h because one after it is");
  });

  test("stays where the provider takes any order", () => {
    const markers = rules([{ at: "last stable system block" }, "30m"], [{ at: "tail" }, "12h"]);
    const { plan } = send("metis", small, solResponses, { markers });
    expect(plan.markers.map(({ lifetime }) => lifetime)).toEqual(["30m", "12h"]);
  });
});

describe("what cannot carry a marker (C-1, H-10)", () => {
  const thought: Block = { type: "thinking", text: "Hm.", signature: "c2ln" };
  const prompt: Prompt = {
    ...small,
    history: [
      say("user", "One."),
      say("assistant", "Two."),
      say("user", "Three."),
      say("assistant", thought),
    ],
    current: [say("user", "Five.", "")],
  };

  test("takes none of the four: a message of thinking alone leaves its place to others", () => {
    const markers = rules([{ at: "last messages", count: 5 }, "5m"]);
    const { body, plan } = send("metis", prompt, claude, { markers });
    expect(markersIn(body)).toEqual({
      "messages.0.content.0": fiveMinutes,
      "messages.1.content.0": fiveMinutes,
      "messages.2.content.0": fiveMinutes,
      "messages.4.content.0": fiveMinutes,
    });
    expect(plan.dropped.map(({ reason }) => reason)).toEqual(["the same place as another marker"]);
  });

  test("passes its marker on to the block before it where thinking ends the conversation", () => {
    const current = [say("assistant", "Let me see.", thought)];
    const { body } = send("tail-5m", { ...prompt, history: [say("user", "One.")], current });
    expect(markersIn(body)).toEqual({ "messages.1.content.0": fiveMinutes });
  });

  test("leaves nothing where nothing before it can carry one either", () => {
    const markers = rules([{ at: "tail" }, "5m"]);
    const only = {
      ...small,
      sections: [],
      current: [say("assistant", { ...thought, text: longText })],
    };
    const { body, plan } = send("metis", only, claude, { markers });
    expect(markersIn(body)).toEqual({});
    expect(plan.dropped).toEqual([
      { block: 0, lifetime: "5m", slot: "tail", reason: "no carrier at or before it" },
    ]);
  });
});

test("a policy without markers asks for none and names no key, also where the provider would cache by itself (N-14)", () => {
  const { assembly } = send("none", large, solResponses);
  const plan = planCache({
    blocks: assembly.blocks,
    rules: solResponses.model,
    markers: findPolicy("none").markers,
    state: openCacheState(),
    pace: openPace("human"),
    now: startMs,
  });
  expect(plan).toMatchObject({
    markers: [],
    requestMarker: null,
    mode: "explicit",
    cacheKey: null,
  });
});

test("sections above and below the minimum: what counts is the whole prefix, not the block", () => {
  const session = section("session", "Project: billing.", { name: "project", layer: "session" });
  const { body } = send("hermes", { ...small, sections: [...small.sections, session] });
  expect(Object.keys(markersIn(body))).toEqual(["system.0", "system.1", "messages.0.content.0"]);
});
