import { describe, expect, test } from "vitest";
import type { RoutingConfig } from "../config/schema/models.ts";
import { findModel } from "../models/resolve-model.ts";
import {
  decideRoute,
  type RouteDecision,
  type RouteFacts,
  type RouteTurn,
  type RouteWishes,
} from "./decide-route.ts";

const noRouting: RoutingConfig = {
  isSticky: true,
  rules: [],
  patterns: [],
  workspaceDefault: null,
  fallback: [],
  fallbackRestSeconds: 300,
  promptCaching: null,
};
const anyone = { agent: null, role: null, hasImages: null, tokensMin: null };

function turn(more: Partial<RouteTurn> = {}): RouteTurn {
  return {
    agent: "coder",
    role: "unified",
    words: "Fix the parser",
    hasImages: false,
    hasEarlierImages: false,
    promptTokens: 1_000,
    needsTools: true,
    needsSystemPrompt: true,
    needsStructuredOutput: false,
    ...more,
  };
}

function wishes(more: Partial<RouteWishes> = {}): RouteWishes {
  return {
    message: null,
    sticky: null,
    routing: noRouting,
    delegate: null,
    globalDefault: "claude-sonnet-4-6",
    isChosen: false,
    ...more,
  };
}

const facts: RouteFacts = {
  find: (name) => findModel(name)?.facts ?? null,
  isReachable: ({ provider }) => provider !== "deepseek",
  isCurrent: () => false,
  isTooSmall: () => false,
  cachesPrompts: ({ provider }) => provider === "anthropic",
  failed: () => null,
};

function routed(...[what, who]: [Partial<RouteTurn>, Partial<RouteWishes>]): unknown {
  const decision = decideRoute(turn(what), wishes(who), facts);
  return decision.kind === "none" ? null : [decision.model.id, decision.by];
}

describe("the order of wishes (D-13)", () => {
  const all: Partial<RouteWishes> = {
    message: "claude-opus-5",
    sticky: "claude-haiku-4-5",
    routing: {
      ...noRouting,
      rules: [{ model: "claude-sonnet-5", when: anyone }],
      patterns: [{ model: "claude-opus-4-8", match: "parser" }],
      workspaceDefault: "claude-sonnet-4-5",
    },
    delegate: "claude-opus-4-6",
  };

  test("what is said with the message comes first", () => {
    expect(routed({}, all)).toEqual(["claude-opus-5", "message"]);
  });

  test("then the model the session has", () => {
    expect(routed({}, { ...all, message: null })).toEqual(["claude-haiku-4-5", "sticky"]);
  });

  test("then the first rule that fits, then a pattern, a delegate, the workspace, everybody", () => {
    const { routing = noRouting } = all;
    const from = (more: Partial<RouteWishes>): unknown =>
      routed({}, { ...all, message: null, sticky: null, ...more });
    expect(from({ routing })).toEqual(["claude-sonnet-5", "rule"]);
    expect(from({ routing: { ...routing, rules: [] } })).toEqual(["claude-opus-4-8", "pattern"]);
    const plain = { ...routing, rules: [], patterns: [] };
    expect(from({ routing: plain })).toEqual(["claude-opus-4-6", "delegate"]);
    expect(from({ routing: plain, delegate: null })).toEqual([
      "claude-sonnet-4-5",
      "workspace_default",
    ]);
    const bare = { ...plain, workspaceDefault: null };
    expect(from({ routing: bare, delegate: null })).toEqual([
      "claude-sonnet-4-6",
      "global_default",
    ]);
  });
});

describe("a rule", () => {
  const big = { model: "claude-opus-5", when: { ...anyone, tokensMin: 50_000, agent: "coder" } };
  const routing = { ...noRouting, rules: [big] };

  test("holds where everything it names does", () => {
    expect(routed({ promptTokens: 60_000 }, { routing })).toEqual(["claude-opus-5", "rule"]);
    expect(routed({ promptTokens: 40_000 }, { routing })).toEqual([
      "claude-sonnet-4-6",
      "global_default",
    ]);
    expect(routed({ promptTokens: 60_000, agent: "writer" }, { routing })).toEqual([
      "claude-sonnet-4-6",
      "global_default",
    ]);
  });
});

describe("a wish that cannot be met is passed over, with the reason", () => {
  test.for<[string, Partial<RouteTurn>, string]>([
    ["gpt-9-imaginary", {}, "not_configured"],
    ["deepseek-v4-pro", {}, "provider_unavailable"],
    ["claude-haiku-4-5", { promptTokens: 300_000 }, "exceeds_context_window"],
  ])("%s with %j: %s", ([message, what, reason]) => {
    const decision = decideRoute(turn(what), wishes({ message }), facts);
    expect(decision.passedOver[0]).toEqual({ name: message, by: "message", reason });
  });

  test("where none can be met, all reasons are there", () => {
    const decision = decideRoute(
      turn({ promptTokens: 9_000_000 }),
      wishes({ message: "claude-opus-5" }),
      facts,
    );
    expect(decision).toEqual({
      kind: "none",
      passedOver: [
        { name: "claude-opus-5", by: "message", reason: "exceeds_context_window" },
        { name: "claude-sonnet-4-6", by: "global_default", reason: "exceeds_context_window" },
      ],
    });
  });
});

test("a pattern that is not a regular expression matches nothing, and only the beginning of a long text counts", () => {
  const patterns = [
    { model: "claude-opus-5", match: "(" },
    { model: "claude-opus-4-8", match: "needle" },
  ];
  const routing = { ...noRouting, patterns };
  expect(routed({ words: "a needle" }, { routing })).toEqual(["claude-opus-4-8", "pattern"]);
  expect(routed({ words: `${"x".repeat(2_000)} needle` }, { routing })).toEqual([
    "claude-sonnet-4-6",
    "global_default",
  ]);
});

test("no pattern takes exponential time, however it repeats", () => {
  const slow = [".*.*.*.*zqxj", "(a+)+$", "(?:a|a)*b", "(.{0,31}){0,31}x"];
  const patterns = slow.map((match) => ({ model: "claude-opus-5", match }));
  const words = `${"a".repeat(1_900)}!`;
  expect(routed({ words }, { routing: { ...noRouting, patterns } })).toEqual([
    "claude-sonnet-4-6",
    "global_default",
  ]);
});

const isModel =
  (name: string, reason: "provider_failed" | "recently_failed"): RouteFacts["failed"] =>
  ({ id }) =>
    id === name ? reason : null;

describe("models to fall back on", () => {
  const routing = { ...noRouting, fallback: ["deepseek-v4-pro", "claude-haiku-4-5"] };
  const decide = (
    more: Partial<RouteWishes>,
    failed: RouteFacts["failed"] = () => null,
  ): RouteDecision => decideRoute(turn(), wishes({ routing, ...more }), { ...facts, failed });

  test("come after every other wish, in their order", () => {
    expect(decide({})).toMatchObject({ name: "claude-sonnet-4-6", by: "global_default" });
    expect(decide({ globalDefault: "nobody-knows" })).toMatchObject({
      name: "claude-haiku-4-5",
      by: "fallback",
      passedOver: [
        { name: "nobody-knows", reason: "not_configured" },
        { name: "deepseek-v4-pro", by: "fallback", reason: "provider_unavailable" },
      ],
    });
  });

  test("take over while a model rests, unless it is named for the message", () => {
    const rests = isModel("claude-sonnet-4-6", "recently_failed");
    expect(decide({}, rests)).toMatchObject({ name: "claude-haiku-4-5", by: "fallback" });
    expect(decide({ sticky: "claude-sonnet-4-6", isChosen: true }, rests)).toMatchObject({
      name: "claude-haiku-4-5",
      passedOver: [
        { by: "sticky", reason: "recently_failed" },
        { by: "global_default", reason: "recently_failed" },
        { reason: "provider_unavailable" },
      ],
    });
    expect(decide({ message: "claude-sonnet-4-6" }, rests)).toMatchObject({ by: "message" });
  });

  test("if every model rests, the first one is asked", () => {
    expect(decide({}, () => "recently_failed")).toMatchObject({ by: "global_default" });
  });

  test("a model that failed in this turn is not asked again, whatever is left", () => {
    const failed = isModel("claude-haiku-4-5", "provider_failed");
    expect(decide({ globalDefault: null }, failed)).toEqual({
      kind: "none",
      passedOver: [
        { name: "deepseek-v4-pro", by: "fallback", reason: "provider_unavailable" },
        { name: "claude-haiku-4-5", by: "fallback", reason: "provider_failed" },
      ],
    });
  });
});

const decideFrom = (more: Partial<RouteWishes>): unknown => {
  const decision = decideRoute(turn(), wishes({ globalDefault: "gpt-5.5", ...more }), facts);
  return decision.kind === "none" ? decision.passedOver : decision.name;
};

describe("a prompt cache", () => {
  const routing = { ...noRouting, fallback: ["claude-haiku-4-5"] };

  test("that is required keeps models out; one that is preferred decides between them", () => {
    expect(decideFrom({ routing })).toBe("gpt-5.5");
    expect(decideFrom({ routing: { ...routing, promptCaching: "preferred" } })).toBe(
      "claude-haiku-4-5",
    );
    expect(decideFrom({ routing: { ...noRouting, promptCaching: "preferred" } })).toBe("gpt-5.5");
    expect(decideFrom({ routing: { ...noRouting, promptCaching: "required" } })).toEqual([
      { name: "gpt-5.5", by: "global_default", reason: "no_prompt_caching_support" },
    ]);
  });

  test("that is preferred does not override a person's choice", () => {
    const chosen = {
      sticky: "gpt-5.5",
      routing: { ...routing, promptCaching: "preferred" as const },
    };
    expect(decideFrom({ ...chosen, isChosen: true })).toBe("gpt-5.5");
    expect(decideFrom({ ...chosen, isChosen: false })).toBe("claude-haiku-4-5");
  });
});
