import { describe, expect, test } from "vitest";
import type { Section } from "../layers/section.ts";
import type { Layout } from "./layout.ts";
import { toSystemBlocks, volatileLabel, volatileText } from "./system-blocks.ts";

const base: Layout = {
  systemBlocks: "by stability",
  volatile: "message-tail",
  padding: "off",
  toolOrder: "sorted",
};

function section(
  name: string,
  layer: Section["layer"],
  stability: Section["stability"],
  text = `${name}.`,
): Section {
  return { name, layer, stability, text };
}

const sections = [
  section("date", "session", "session"),
  section("rules", "workspace", "static", "\n rules. \n"),
  section("clock", "event", "turn", " Noon. "),
  section("skills", "workspace", "static"),
  section("blank", "persona", "static", " \n"),
  section("memory", "memory", "session"),
  section("hook", "event", "turn"),
  section("soul", "persona", "static"),
];

describe("the blocks of the system prompt", () => {
  test("by stability are one of static text and one of the session, each in the caller's order", () => {
    expect(toSystemBlocks(sections, base)).toEqual([
      { label: "static", tier: "T1", text: "rules.\n\nskills.\n\nsoul." },
      { label: "session", tier: "T2", text: "date.\n\nmemory." },
    ]);
  });

  test("as one are everything stable, static text first", () => {
    expect(toSystemBlocks(sections, { ...base, systemBlocks: "one" })).toEqual([
      { label: "stable", tier: "T1", text: "rules.\n\nskills.\n\nsoul.\n\ndate.\n\nmemory." },
    ]);
  });

  test("with labels are workspace, skills and what binds to the session", () => {
    expect(toSystemBlocks(sections, { ...base, systemBlocks: "labelled" })).toEqual([
      { label: "workspace", tier: "T1", text: "rules.\n\nmemory.\n\nsoul." },
      { label: "skills", tier: "T1", text: "skills." },
      { label: "binding_glue", tier: "T1", text: "date." },
    ]);
  });

  test.each(["by stability", "one", "labelled"] as const)(
    "of nothing stable are none: %s",
    (kind) => {
      const turn = [section("clock", "event", "turn"), section("blank", "memory", "static", "")];
      expect(toSystemBlocks(turn, { ...base, systemBlocks: kind })).toEqual([]);
    },
  );
});

describe("what changes on any call", () => {
  test("is one text of its sections in their order", () => {
    expect(volatileText(sections)).toBe("Noon.\n\nhook.");
  });

  test("is nothing where no section says anything", () => {
    expect(volatileText([section("clock", "event", "turn", " ")])).toBeNull();
    expect(volatileText([])).toBeNull();
  });

  test("is called channel_meta among labelled blocks and volatile otherwise", () => {
    expect(volatileLabel({ ...base, systemBlocks: "labelled" })).toBe("channel_meta");
    expect(volatileLabel(base)).toBe("volatile");
  });
});
