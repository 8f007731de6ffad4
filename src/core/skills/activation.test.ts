// The registry of activations.
import { expect, test } from "vitest";
import { noActivations } from "./activation.ts";
import { createSkillRegistry, type SkillActivationRegistry } from "./skill-registry.ts";

test("a new registry has nothing", () => {
  expect(createSkillRegistry().state()).toEqual(noActivations);
});

test("preactivating twice is preactivating once", () => {
  const registry = createSkillRegistry();
  registry.preactivate([skill("b"), skill("a")]);
  registry.preactivate([skill("a"), skill("c"), skill("c")]);
  expect(registry.state().preactivated.map(({ name }) => name)).toEqual(["b", "a", "c"]);
});

test("a preactivated skill is pointed to, and costs no budget (M-34)", () => {
  const registry = createSkillRegistry({ limits: { skillsMax: 0 } });
  registry.preactivate([skill("a")]);
  expect(registry.plan(skill("a"), "use-1")).toEqual({ kind: "preactivated" });
});

test("loads are kept in their order, and planning alone changes nothing", () => {
  const registry = createSkillRegistry();
  registry.plan(skill("x"), "use-0");
  load(registry, "b", "a", "c");
  expect(registry.state().loaded.map(({ name }) => name)).toEqual(["b", "a", "c"]);
});

test("loading again points to the first result and is not counted (M-35)", () => {
  const registry = createSkillRegistry();
  load(registry, "a");
  const before = registry.state();
  const plan = registry.plan(skill("a"), "use-9");
  registry.adopt(plan);
  expect(plan).toEqual({
    kind: "loaded before",
    earlier: { name: "a", version: "v1", sizeTokens: 100, toolUseId: "use-a" },
  });
  expect(registry.state()).toBe(before);
});

test("the fourth skill is refused, with what is loaded and how to go on (M-36)", () => {
  const registry = createSkillRegistry();
  load(registry, "b", "a", "c");
  expect(registry.plan(skill("d"), "use-d")).toEqual({
    kind: "refused",
    reason:
      "skill d was not loaded: a session loads at most 3 skills, and it would be number 4. " +
      "Loaded, in this order: b, a, c. Go on with what is loaded, read only the part you need from the skill's files, " +
      "or ask the user for a new session or for compaction, which frees what it hides.",
  });
  expect(registry.plan(skill("a"), "use-2").kind).toBe("loaded before");
});

test("30,000 tokens fit exactly and one more is refused (M-36)", () => {
  const registry = createSkillRegistry();
  registry.adopt(registry.plan(skill("a", 20_000), "use-a"));
  expect(registry.plan(skill("b", 10_000), "use-b").kind).toBe("load");
  expect(registry.plan(skill("b", 10_001), "use-b")).toMatchObject({
    kind: "refused",
    reason: expect.stringMatching(
      /^skill b was not loaded: with its 10001 tokens loaded skills would take 30001, at most 30000\. Loaded, in this order: a\./,
    ) as string,
  });
  expect(createSkillRegistry().plan(skill("huge", 30_001), "use-1")).toMatchObject({
    reason: expect.stringContaining("Loaded, in this order: none so far.") as string,
  });
});

test("the warning about 10,000 tokens comes once per session, also after a compaction (M-36)", () => {
  const warnings: string[] = [];
  const registry = createSkillRegistry({ onWarning: (text) => warnings.push(text) });
  registry.adopt(registry.plan(skill("a", 10_000), "use-a"));
  expect(warnings).toEqual([]);
  registry.adopt(registry.plan(skill("b", 1), "use-b"));
  registry.adopt(registry.plan(skill("c", 1), "use-c"));
  registry.releaseCompacted(["a"]);
  registry.adopt(registry.plan(skill("a", 10_000), "use-a2"));
  expect(warnings).toEqual([
    "loaded skills take about 10001 tokens of the history, more than 10000; at 30000 no more are loaded",
  ]);
});

test("the caps are configuration", () => {
  const registry = createSkillRegistry({ limits: { skillsMax: 1, tokensMax: 50 } });
  expect(registry.plan(skill("a", 51), "use-1").kind).toBe("refused");
  registry.adopt(registry.plan(skill("a", 50), "use-1"));
  expect(registry.plan(skill("b", 0), "use-2").kind).toBe("refused");
});

test("what a compaction removed is freed, named for the summary, and can be loaded again (C-10)", () => {
  const registry = createSkillRegistry();
  load(registry, "a", "b", "c");
  const released = registry.releaseCompacted(["a", "c", "never-loaded"]);
  expect(released.map(({ name }) => name)).toEqual(["a", "c"]);
  expect(registry.state().loaded.map(({ name }) => name)).toEqual(["b"]);
  load(registry, "d", "a");
  expect(registry.state().loaded.map(({ name }) => name)).toEqual(["b", "d", "a"]);
  expect(registry.releaseCompacted([])).toEqual([]);
});

test("a compaction does not free what is in the foundation", () => {
  const registry = createSkillRegistry();
  registry.preactivate([skill("a")]);
  expect(registry.releaseCompacted(["a"])).toEqual([]);
  expect(registry.plan(skill("a"), "use-1").kind).toBe("preactivated");
});

test("a body that changed between two runs of a session is loaded again, as the same skill", () => {
  const first = createSkillRegistry();
  load(first, "a", "b", "c");
  const registry = createSkillRegistry({ state: first.state() });
  registry.adopt(registry.plan({ ...skill("a"), version: "v2" }, "use-2"));
  expect(registry.state().loaded.map(({ name, version }) => `${name} ${version}`)).toEqual([
    "a v1",
    "b v1",
    "c v1",
    "a v2",
  ]);
  expect(registry.releaseCompacted(["a"])).toHaveLength(2);
});

function skill(name: string, sizeTokens = 100) {
  return { name, version: "v1", sizeTokens };
}

function load(registry: SkillActivationRegistry, ...names: readonly string[]): void {
  for (const name of names) registry.adopt(registry.plan(skill(name), `use-${name}`));
}
