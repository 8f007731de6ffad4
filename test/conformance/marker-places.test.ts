// Goal: every policy marks where it says, on every provider (CF-A). Method: all markers of a body by their path.
import { describe, expect, test } from "vitest";
import { policyNames, type PolicyName } from "../../src/core/cache/policy.ts";
import {
  bedrock,
  claude,
  large,
  longText,
  markersIn,
  minimax,
  openrouter,
  rules,
  say,
  section,
  send,
  small,
  solChat,
  solResponses,
  toolResult,
  wires,
  type Prompt,
} from "./test-kit.ts";

const fiveMinutes = { type: "ephemeral" };
const oneHour = { type: "ephemeral", ttl: "1h" };
const explicit = { mode: "explicit" };

/** All policies but the one whose places depend on cost. */
const fixed: Readonly<
  Record<Exclude<PolicyName, "adaptive">, Readonly<Record<string, typeof fiveMinutes>>>
> = {
  metis: {
    "tools.2": fiveMinutes,
    "system.0": fiveMinutes,
    "messages.4.content.0": fiveMinutes,
  },
  nexo: { "tools.2": oneHour, "system.2": oneHour, "system.3": fiveMinutes },
  hermes: {
    "tools.2": oneHour,
    "system.0": oneHour,
    "system.1": fiveMinutes,
    "messages.4.content.0": fiveMinutes,
  },
  nexus: { "system.0": fiveMinutes, "messages.4.content.0": fiveMinutes },
  "tail-5m": { "messages.4.content.0": fiveMinutes },
  "tail-1h": { "messages.4.content.0": oneHour },
  automatic: { request: fiveMinutes },
  "latest-user": { "system.1": fiveMinutes, "messages.4.content.0": fiveMinutes },
  "last-n": {
    "system.1": fiveMinutes,
    "messages.2.content.1": fiveMinutes,
    "messages.3.content.0": fiveMinutes,
    "messages.4.content.0": fiveMinutes,
  },
  "system-only": { "tools.2": fiveMinutes, "system.1": fiveMinutes },
  none: {},
};

describe.each(Object.entries(fixed))("%s", (name, expected) => {
  const policy = policyNames.find((each) => each === name) ?? "none";

  test("marks these places of a large prompt and no others; an hour has a ttl, five minutes have none (M-10 to M-12, N-10 to N-12, H-02 to H-04)", () => {
    expect(markersIn(send(policy, large).body)).toEqual(expected);
  });

  test("marks of the tools the last one or none (M-10, N-12)", () => {
    const paths = Object.keys(markersIn(send(policy, large).body));
    const tools = paths.filter((path) => path.startsWith("tools"));
    expect(tools).toEqual("tools.2" in expected ? ["tools.2"] : []);
  });
});

describe.each(policyNames)("%s on every provider", (policy) => {
  test.each(Object.entries(wires))("%s: volatile text carries no marker (M-11, C-2)", (_, wire) => {
    const { body } = send(policy, large, wire);
    const marked = Object.keys(markersIn(body)).map((path) => JSON.stringify(at(body, path)));
    const volatile = marked.filter((json) => json.includes('"text":"Current time'));
    expect(volatile).toHaveLength(volatileMarks(policy, wire.model.cache.markers !== null));
  });

  test.each(Object.entries(wires))(
    "%s: no system key if there is no system text (M-14)",
    (_, wire) => {
      const { body } = send(policy, { ...small, sections: [section("static", "  \n")] }, wire);
      expect(body).not.toHaveProperty("system");
      expect(JSON.stringify(body)).not.toContain("developer");
      expect(JSON.stringify(body)).toContain('"text":"Hello."');
    },
  );

  test.each(Object.entries(wires))(
    "%s: an empty list of messages stays empty and unmarked (M-12)",
    (_, wire) => {
      const { body } = send(policy, { ...small, current: [] }, wire);
      const paths = Object.keys(markersIn(body));
      expect(paths.filter((path) => /^(messages|input)\.[1-9]/.test(path))).toEqual([]);
      expect(JSON.stringify(body)).not.toContain('"role":"user"');
    },
  );
});

/** In the large prompt nexo marks its channel, nexus the message that begins with the event. */
function volatileMarks(policy: PolicyName, takesMarkers: boolean): number {
  return takesMarkers && (policy === "nexo" || policy === "nexus") ? 1 : 0;
}

function at(body: unknown, path: string): unknown {
  if (path === "request") return null;
  return path
    .split(".")
    .reduce<unknown>(
      (value, name) => Object.entries(Object(value)).find(([key]) => key === name)?.[1],
      body,
    );
}

describe("where only volatile text is there", () => {
  const prompt: Prompt = {
    ...small,
    sections: [section("turn", longText, { name: "event", layer: "event" })],
  };

  test.each(["metis", "hermes"] as const)(
    "%s has one block without a marker (M-14, H-03)",
    (policy) => {
      const { body } = send(policy, prompt);
      expect(body["system"]).toEqual([{ type: "text", text: longText }]);
    },
  );

  test("nexo has its channel block alone, marked for five minutes (N-10)", () => {
    const { body } = send("nexo", prompt);
    expect(body["system"]).toEqual([{ type: "text", text: longText, cache_control: fiveMinutes }]);
  });

  test("a message's tail holds it, and there is no system key (C-2)", () => {
    const { body } = send("tail-5m", prompt);
    expect(body).not.toHaveProperty("system");
    expect(body["messages"]).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Hello." },
          { type: "text", text: longText },
        ],
      },
    ]);
  });

  test.each([
    ["Chat Completions", solChat, "messages"],
    ["Responses", solResponses, "input"],
  ] as const)("%s has one message of the developer without a marker (M-15)", (_, wire, list) => {
    const { body } = send("metis", prompt, wire);
    expect(body[list]).toMatchObject([{ role: "developer" }, { role: "user" }]);
    expect(Object.keys(markersIn(body))).toEqual([`${list}.1.content.0`]);
  });
});

describe("the tail's marker", () => {
  const results: Prompt = {
    ...large,
    history: large.history.slice(0, 2),
    current: [toolResult("t1", "2 failed"), toolResult("t2", "totals.test.ts")],
  };

  test.each(["metis", "tail-5m", "tail-1h", "hermes", "last-n", "nexus", "adaptive"] as const)(
    "%s: stands on the last tool result of the last message (M-12, H-05)",
    (policy) => {
      expect(markersIn(send(policy, results).body)).toHaveProperty(["messages.2.content.1"]);
    },
  );

  test.each(["metis", "tail-5m", "hermes"] as const)(
    "%s: stands behind a text that follows tool results, in the same message (M-12)",
    (policy) => {
      const current = [...results.current, say("user", "And hurry.")];
      const { body } = send(policy, { ...results, current });
      const inMessages = Object.keys(markersIn(body)).filter((path) => path.startsWith("messages"));
      expect(inMessages.at(-1)).toBe("messages.2.content.2");
    },
  );

  test("goes back to a part that can carry it where tool results cannot (M-16, M-17)", () => {
    const { plan, assembly } = send("tail-5m", results, openrouter);
    expect(plan.markers.map(({ block }) => assembly.blocks.at(block)?.kind)).toEqual(["text"]);
  });
});

describe("a run of system blocks with one lifetime (N-11)", () => {
  const glue = section("session", "Speak German.", { name: "language", layer: "session" });
  const skills = section("static", "Skills: none yet.", { name: "skills" });
  const channel = section("turn", "Sender: ada.", { name: "channel", layer: "event" });

  test.each([
    ["workspace alone", [], { "system.0": oneHour }],
    ["workspace and skills", [skills], { "system.1": oneHour }],
    ["workspace, skills, glue", [skills, glue], { "system.2": oneHour }],
    [
      "workspace, skills, glue, channel",
      [skills, glue, channel],
      { "system.2": oneHour, "system.3": fiveMinutes },
    ],
    ["workspace and channel", [channel], { "system.0": oneHour, "system.1": fiveMinutes }],
  ])("is marked at its end: %s", (_, more, expected) => {
    const { body } = send("nexo", { ...small, sections: [...small.sections, ...more] });
    expect(markersIn(body)).toEqual(expected);
  });
});

describe("on a route that takes markers on content parts only (M-16, M-17)", () => {
  test.each(policyNames)("%s: the plan marks no tool, no tool use and no tool result", (policy) => {
    const { plan, assembly } = send(policy, large, openrouter);
    const kinds = plan.markers.map(({ block }) => assembly.blocks.at(block)?.kind);
    expect(kinds).not.toContain("tool definition");
    expect(kinds).not.toContain("tool_use");
    expect(kinds).not.toContain("tool_result");
    expect(plan.requestMarker).toBeNull();
  });

  test("a tool's marker is dropped with its reason", () => {
    expect(send("metis", large, openrouter).plan.dropped).toEqual([
      { block: 2, lifetime: "5m", slot: "head", reason: "no carrier at or before it" },
    ]);
  });

  test("Claude behind Chat Completions gets cache_control on its parts, and none on tools", () => {
    expect(markersIn(send("metis", large, openrouter).body)).toEqual({
      "messages.0.content.0": fiveMinutes,
      "messages.7.content.0": fiveMinutes,
    });
  });

  test.each([
    ["Chat Completions", solChat, "messages.0.content.0", "messages.7.content.0"],
    ["Responses", solResponses, "input.0.content.0", "input.9.content.0"],
  ] as const)("%s of the vendor itself has its own marker on parts", (_, wire, stable, tail) => {
    expect(markersIn(send("metis", large, wire).body)).toEqual({
      [stable]: explicit,
      [tail]: explicit,
    });
  });
});

test.each([
  ["the vendor's own route", claude],
  ["a cloud's", bedrock],
  ["another vendor's", minimax],
])(
  "seed 000 marks the same places on every route of the Messages protocol: %s (M-10, M-12)",
  (_, wire) => {
    expect(markersIn(send("metis", large, wire).body)).toEqual(fixed.metis);
  },
);

test("a rule whose place is not there marks nothing, and takes no slot", () => {
  const markers = rules(
    [{ at: "last tool" }, "1h"],
    [{ at: "system block", label: "no such block" }, "1h"],
    [{ at: "previous tail" }, "5m"],
    [{ at: "tail" }, "5m"],
  );
  const { body, plan } = send("nexus", small, claude, { markers });
  expect(markersIn(body)).toEqual({ "messages.0.content.0": fiveMinutes });
  expect(plan.dropped).toEqual([]);
});
