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

function asking(name: string, lifetime?: "5m" | "1h"): Section {
  const asked = lifetime === undefined ? {} : { lifetime };
  return { name, layer: "persona", stability: "static", text: name, ...asked };
}

test("sections that ask for a lifetime are blocks of their own, the longest first; the others stay as they were (H-01)", () => {
  const layout = {
    systemBlocks: "by stability",
    volatile: "message-tail",
    padding: "off",
    toolOrder: "sorted",
  } as const;
  expect(
    toSystemBlocks([asking("a"), asking("b", "5m"), asking("c", "1h"), asking("d")], layout),
  ).toEqual([
    { label: "static 1h", tier: "T1", text: "c", lifetime: "1h" },
    { label: "static 5m", tier: "T1", text: "b", lifetime: "5m" },
    { label: "static", tier: "T1", text: "a\n\nd" },
  ]);
});
