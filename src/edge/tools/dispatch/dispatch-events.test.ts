import { beforeEach, describe, expect, test } from "vitest";
import { openChain } from "../../../core/events/chain.ts";
import { checkTrace } from "../../../../harness/check-trace.ts";
import type { StrataEvent } from "../../../core/events/event.ts";
import { createEventBus, type EventBus } from "../../events/event-bus.ts";
import { createCallEmitter, type SharedChain } from "./tool-trace.ts";
import { createDispatcher } from "./dispatcher.ts";
import { context, runOne, toolOf, useOf } from "../test-kit.ts";

const echo = toolOf("echo", async ({ text }) => ({ text: String(text) }));

describe("events", () => {
  let events: StrataEvent[];
  let bus: EventBus;

  beforeEach(() => {
    events = [];
    bus = createEventBus({ strictness: "strict", onProblem: () => {} });
    bus.subscribe((event) => void events.push(event));
  });

  function outline(): string[] {
    return events.map(({ id, type, parentEventId }) => {
      const parent = events.findIndex((each) => each.id === parentEventId);
      expect(id).not.toBe(parentEventId);
      return parent === -1 ? type : `${type} ← ${parent} ${events[parent]?.type}`;
    });
  }

  test("follow from the reply, and the next call can follow from them (D-09)", async () => {
    const about = { sessionId: "s1", turnId: "t1" };
    const chain: SharedChain = { current: null };
    const emit = createCallEmitter(bus, chain);
    const payload = { query: "q", results_count: 0, result_skill_ids: [] };
    const search = toolOf("search", async (_input, call) => {
      emit({ type: "skill.search", payload }, call);
      return { text: "none", filesModified: ["a.txt"], metadata: { commandExecuted: "ls" } };
    });
    const started = bus.emit({
      ...about,
      type: "turn.started",
      payload: {
        user_message_hash: "0".repeat(64),
        estimated_input_tokens: 1,
        has_images: false,
        has_tool_calls_in_history: false,
      },
    });
    chain.current = openChain(started.id);
    const danger = toolOf("danger", async () => ({ text: "" }), { sideEffects: "execute" });
    const dispatcher = createDispatcher({
      tools: [search, danger],
      events: bus,
      confirm: async () => false,
    });
    for (const [name, input] of [
      ["search", {}],
      ["danger", {}],
      ["search", { text: 1 }],
      ["nope", {}],
    ] as const) {
      await runOne(dispatcher, name, input, { ...context, chain });
    }
    expect(outline()).toEqual([
      "turn.started",
      "tool.called ← 0 turn.started",
      "skill.search ← 1 tool.called",
      "tool.completed ← 1 tool.called",
      "tool.confirmation_requested ← 3 tool.completed",
      "tool.confirmation_resolved ← 4 tool.confirmation_requested",
      "tool.failed ← 5 tool.confirmation_resolved",
      "tool.input_invalid ← 6 tool.failed",
      "tool.failed ← 7 tool.input_invalid",
      "tool.failed ← 8 tool.failed",
    ]);
    expect(checkTrace(events)).toEqual([]);
    expect(chain.current?.latest).toBe(events.at(-1)?.id);
    expect(events[3]?.payload).toMatchObject({
      success: true,
      output_size_bytes: 4,
      files_modified: ["a.txt"],
      command_executed: "ls",
    });
    expect(events[7]?.payload).toEqual({
      tool_name: "search",
      validation_errors: ["/text must be text, not 1"],
    });
    expect(events[6]?.payload).toMatchObject({ error_class: "user_denied" });
  });

  test("name the first hundred files that were changed; the others, and what is no path, are reported as a problem", async () => {
    const problems: unknown[] = [];
    const filesModified = Array.from({ length: 150 }, (_, index) =>
      index === 3 ? "" : `f${index}`,
    );
    const metadata = { commandExecuted: "echo ".repeat(1000) };
    const tool = toolOf("many", async () => ({ text: "done", filesModified, metadata }));
    const onProblem = (problem: unknown): void => void problems.push(problem);
    const dispatcher = createDispatcher({ tools: [tool], events: bus, onProblem });
    await runOne(dispatcher, "many");
    expect(outline()).toEqual(["tool.called", "tool.completed ← 0 tool.called"]);
    expect(events[1]?.payload).toMatchObject({
      files_modified: filesModified.filter((path) => path !== "").slice(0, 100),
    });
    expect(problems.map(String)).toEqual([
      "ToolError: many: its event does not name 50 of the 150 files it changed",
    ]);
  });

  test("of concurrent uses each follow their own", async () => {
    const chain = { current: openChain("01ARZ3NDEKTSV4RRFFQ69G5FAV") };
    const dispatcher = createDispatcher({ tools: [echo], events: bus });
    const uses = [useOf("echo", { text: "a" }), useOf("echo", { text: "b" })];
    await dispatcher.runAll(uses, { ...context, chain });
    expect(outline().toSorted()).toEqual([
      "tool.called",
      "tool.called",
      "tool.completed ← 0 tool.called",
      "tool.completed ← 1 tool.called",
    ]);
  });

  test("without a chain follow from each other only", async () => {
    await runOne(createDispatcher({ tools: [echo], events: bus }), "echo", { text: "a" });
    expect(outline()).toEqual(["tool.called", "tool.completed ← 0 tool.called"]);
    expect(events.map(({ parentEventId }) => parentEventId)[0]).toBeNull();
  });
});
