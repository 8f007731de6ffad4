// What a compaction makes anew where the cache breaks anyway: skills that can be loaded again, memory as it is now (C-10, C-11).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Section } from "../../../src/core/layers/section.ts";
import { createSkillRegistry } from "../../../src/core/skills/skill-registry.ts";
import { createSkillStore } from "../../../src/edge/files/skills/skill-store.ts";
import { skillTools } from "../../../src/edge/tools/skills/skill-tools.ts";
import type { OpenLedger } from "../../ledger/stores.ts";
import { briefly, callsTool, isAsked } from "../speakers.ts";
import { messagesOf, textOf } from "../looks.ts";
import { compactionsSoon, openWorld, type World } from "../test-kit.ts";

export function renewalContract(open: OpenLedger): void {
  test("C-10: a skill whose body was folded is named in the notes and can be loaded again", async () => {
    const skills = await createSkillStore({ workspace: workspaceWithSkill() });
    const registry = createSkillRegistry();
    const world = await openWorld(open, {
      settings: compactionsSoon,
      tools: skillTools({ store: skills, registry }),
      compaction: { skills: registry },
      speak: (prompt) =>
        isAsked(prompt) && prompt.turns.at(-1)?.text.startsWith("Load") === true
          ? callsTool("skill_load", { name: "release" })
          : briefly(prompt),
    });
    await world.say("Load it.");
    expect(registry.state().loaded.map(({ name }) => name)).toEqual(["release"]);
    const version = registry.state().loaded[0]?.version;
    await world.talk(8, { from: 2 });
    expect(await world.folds()).toHaveLength(1);
    expect(registry.state().loaded).toEqual([]);
    expect(textOf(messagesOf(world.session)[0] ?? nothing)).toContain(
      `--- Skills that were loaded, and can be loaded again with skill_load ---\n- release (version ${version})`,
    );
    expect(JSON.stringify(messagesOf(world.session))).not.toContain("Tag it, then publish.");
    await world.say("Load it.");
    expect(JSON.stringify(messagesOf(world.session))).toContain("Tag it, then publish.");
    expect(registry.state().loaded.map(({ name }) => name)).toEqual(["release"]);
  });

  test("C-10: a skill whose fold came to nothing is still loaded", async () => {
    const skills = await createSkillStore({ workspace: workspaceWithSkill() });
    const registry = createSkillRegistry();
    const world = await openWorld(open, {
      settings: compactionsSoon,
      tools: skillTools({ store: skills, registry }),
      compaction: { skills: registry },
      speak: (prompt) =>
        isAsked(prompt) && prompt.turns.at(-1)?.text.startsWith("Load") === true
          ? callsTool("skill_load", { name: "release" })
          : briefly(prompt),
      summary: () => ({ parts: [], stop: "end" }),
    });
    await world.say("Load it.");
    await world.talk(8, { from: 2 });
    expect(world.payloads("compaction.failed")).toHaveLength(1);
    expect(registry.state().loaded.map(({ name }) => name)).toEqual(["release"]);
  });

  test("C-11: memory as it is now is in the system text from the fold on, also after a restart", async () => {
    let entries = ["Uses npm."];
    const world: World = await openWorld(open, {
      settings: compactionsSoon,
      setup: { context: contextWith(entries) },
      compaction: {
        refresh: () => Promise.resolve({ ...world.setup, context: contextWith(entries) }),
      },
    });
    const system = (): string =>
      /"system":.*?"messages":/.exec(world.bodies.at(-1)?.text ?? "")?.[0] ?? "";
    await world.talk(7);
    entries = ["Uses npm.", "The port is 4177."];
    expect(system()).not.toContain("4177");
    const { key } = world.session.thread.foundation;
    await world.talk(1, { from: 8 });
    expect(await world.folds()).toHaveLength(1);
    expect(system()).toContain("The port is 4177.");
    expect(world.session.thread.foundation.key).not.toBe(key);
    const { end, foundation } = world.session.thread;
    await world.restart();
    expect(world.session.thread.end).toEqual(end);
    expect(world.session.thread.foundation.key).toBe(foundation.key);
    expect(world.session.madeOf.map(({ name }) => name)).not.toEqual([]);
    const [run] = await world.talk(1, { from: 9 });
    expect(system()).toContain("The port is 4177.");
    // What was sent before the restart is read after it.
    expect(run?.calls[0]?.verdict?.kind).toBe("as expected");
    expect(run?.calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(foundation.end.tokens);
  });

  test("C-11: memory that did not change leaves the foundation and its cache alone", async () => {
    const world: World = await openWorld(open, {
      settings: compactionsSoon,
      compaction: { refresh: () => Promise.resolve(world.setup) },
    });
    await world.talk(7);
    const { key } = world.session.thread.foundation;
    const [run] = await world.talk(1, { from: 8 });
    expect(await world.folds()).toMatchObject([{ foundationHash: null }]);
    expect(world.session.thread.foundation.key).toBe(key);
    expect(run?.calls[0]?.usage?.cacheReadTokens).toBeGreaterThan(1_000);
  });

  test("C-11: where nobody can say what memory is now, the fold is made with what there was", async () => {
    const world = await openWorld(open, {
      settings: compactionsSoon,
      compaction: { refresh: () => Promise.reject(new Error("no such file")) },
    });
    const [run] = (await world.talk(8)).slice(-1);
    expect(run?.end).toBe("done");
    expect(await world.folds()).toMatchObject([{ foundationHash: null }]);
  });

  test("X-14: where nothing remains and nothing can be folded, memory that was to be told is left out", async () => {
    const memory: Section = {
      name: "memory",
      layer: "memory",
      stability: "turn",
      text: "Memory has changed: the port is 4177.",
    };
    const world = await openWorld(open);
    await world.say("Hello.", { volatile: [memory] });
    expect(world.bodies.at(-1)?.text).toContain("the port is 4177");
    await world.talk(1, { from: 2, tokens: 17_800 });
    const run = await world.say("And now?", { volatile: [memory] });
    expect(run.end).toBe("done");
    expect(world.payloads("compaction.skipped")).toMatchObject([{ outcome: "no_boundary" }]);
    expect(lastMessage(world)).not.toContain("the port is 4177");
  });

  test("X-14: where leaving memory out is enough, the history is not compacted", async () => {
    const memory: Section = {
      name: "memory",
      layer: "memory",
      stability: "turn",
      text: `Memory has changed: the port is 4177. ${"More of it. ".repeat(1_500)}`,
    };
    const world = await openWorld(open);
    await world.talk(6, { tokens: 2_000 });
    const run = await world.say("And now?", { volatile: [memory] });
    expect(run.end).toBe("done");
    expect(await world.folds()).toEqual([]);
    expect(world.payloads("compaction.skipped")).toEqual([
      { trigger: "context_limit", outcome: "memory_left_out" },
    ]);
    expect(lastMessage(world)).toContain("And now?");
    expect(lastMessage(world)).not.toContain("the port is 4177");
    await world.talk(4, { from: 7, tokens: 2_000 });
    expect(await world.folds()).toMatchObject([{ trigger: "context_limit" }]);
  });
}

const nothing = { role: "user", content: [] } as const;

/** A workspace with one skill, gone after the test. */
function workspaceWithSkill(): string {
  const root = mkdtempSync(join(tmpdir(), "strata-folds-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, ".strata/skills/release"), { recursive: true });
  writeFileSync(
    join(root, ".strata/skills/release/SKILL.md"),
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish.\n",
  );
  return root;
}

function contextWith(entries: readonly string[]): World["setup"]["context"] {
  return {
    role: "unified",
    workspaceRules: "Answer briefly. ".repeat(400),
    memory: { user: "", workspace: entries.join("\n") },
  };
}

function lastMessage({ bodies }: World): string {
  const body = bodies.at(-1)?.text ?? "";
  return body.slice(body.lastIndexOf('"role":"user"'));
}
