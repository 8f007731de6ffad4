// The tools on real folders, their events on a strict bus.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StrataEvent } from "../../../core/events/event.ts";
import { toPreactivationDrafts } from "../../../core/skills/activation-events.ts";
import {
  createSkillRegistry,
  type SkillActivationRegistry,
} from "../../../core/skills/skill-registry.ts";
import { registerTools } from "../../../core/tools/check-tools.ts";
import { selectTools } from "../../../core/tools/select-tools.ts";
import type { Tool, ToolCallContext, ToolInput, ToolOutput } from "../../../core/tools/tool.ts";
import { createEventBus, type EventBus } from "../../events/event-bus.ts";
import { createSkillStore, type SkillStore } from "../../files/skills/skill-store.ts";
import { skillTools } from "./skill-tools.ts";

let folder = "";
let store: SkillStore;
let registry: SkillActivationRegistry;
let bus: EventBus;
let events: StrataEvent[] = [];
let tools: ReadonlyMap<string, Tool>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-skill-tools-"));
  put("pdf-forms", "Fills forms in PDF files.", "Open the form, then fill it.");
  put("mail", "Sends mail.", "Ask before you send.");
  put("notes", "Keeps notes.", "Write them down.");
  put("plan", "Plans work.", "Write a list.");
  store = await createSkillStore({ workspace: folder });
  registry = createSkillRegistry();
  events = [];
  bus = createEventBus({
    strictness: "strict",
    onProblem: (problem) => {
      throw new Error(JSON.stringify(problem));
    },
  });
  bus.subscribe((event) => void events.push(event));
  tools = named(
    skillTools({
      store,
      registry,
      emit: (event, { sessionId, turnId }) => void bus.emit({ ...event, sessionId, turnId }),
    }),
  );
});

afterEach(async () => {
  await bus.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the three tools have names, schemas and permissions every provider and toolset takes", () => {
  const all = [...tools.values()];
  expect([...registerTools(all).keys()]).toEqual(["skill_search", "skill_load", "skill_save"]);
  expect(all.map(({ sideEffects }) => sideEffects)).toEqual(["read", "read", "write"]);
  const granted = ["skills.read", "skills.write"];
  const offer = { offered: all, granted, order: "sorted" } as const;
  const namesFor = (role: "worker" | "manager" | "unified"): readonly string[] =>
    selectTools({ ...offer, role }).tools.map(({ name }) => name);
  expect(namesFor("worker")).toEqual(["skill_load", "skill_search"]);
  expect(namesFor("manager")).toEqual(["skill_load", "skill_save", "skill_search"]);
  expect(namesFor("unified")).toEqual(["skill_load", "skill_save", "skill_search"]);
});

describe("skill_search (M-52)", () => {
  test("gives the best first, with metadata and an event", async () => {
    const output = await use("skill_search", { query: "MAIL" });
    expect(output).toEqual({
      text: "- mail (workspace): Sends mail.",
      metadata: { query: "MAIL", result_count: 1, result_names: ["mail"] },
    });
    expect(events).toMatchObject([
      {
        type: "skill.search",
        turnId: "turn-1",
        payload: { query: "MAIL", results_count: 1, result_skill_ids: ["mail"] },
      },
    ]);
  });

  test("lists all for a blank query, as many as asked for, and says what is left", async () => {
    const { text } = await use("skill_search", { query: " ", limit: 2 });
    expect(text).toBe(
      "- mail (workspace): Sends mail.\n- notes (workspace): Keeps notes.\n(2 more; raise the limit or be more exact)",
    );
  });

  test("says when there is nothing, and when only words were found", async () => {
    expect((await use("skill_search", { query: "video" })).text).toBe(
      'No skill has "video" in its name or description. A blank query lists all.',
    );
    expect((await use("skill_search", { query: "send a video" })).text).toMatch(
      /^No skill has the whole query; these have words of it:\n- mail/,
    );
    const none = named(skillTools({ store: null, registry }));
    expect((await run(none, "skill_search", { query: "" })).text).toBe("There are no skills.");
  });
});

test("skill_search looks for each word once, and says how many it left out", async () => {
  const words = Array.from({ length: 70 }, (_, index) => `w${index}`);
  const { text } = await use("skill_search", { query: [...words, "w0", "w1"].join(" ") });
  expect(text).toMatch(/^No skill has "w0 .*\n\(6 more words were not looked for\)$/s);
});

describe("skill_load (M-53)", () => {
  test("gives heading and body, and says so to the log (M-31)", async () => {
    const output = await use("skill_load", { name: "pdf-forms" });
    expect(output).toEqual({
      text: "# Skill: pdf-forms (workspace, version c0554de73c5eda11)\n\nOpen the form, then fill it.",
      metadata: {
        skill_id: "pdf-forms",
        skill_version: "c0554de73c5eda11",
        source: "workspace",
        load_size_tokens: 7,
      },
    });
    expect(events).toMatchObject([
      {
        type: "skill.loaded",
        actor: "system",
        sensitivity: "pseudonymous",
        payload: {
          skill_id: "pdf-forms",
          skill_version: "c0554de73c5eda11",
          load_reason: "on_demand",
          load_size_tokens: 7,
          source: "workspace",
          triggered_by_tool_use_id: "use-1",
        },
      },
    ]);
  });

  test("points to the first result when asked again: no event, no budget (M-35)", async () => {
    await use("skill_load", { name: "mail" }, "use-1");
    const before = registry.state();
    const output = await use("skill_load", { name: "mail" }, "use-2");
    expect(output.text).toBe(
      "Skill mail (workspace)\n\nIt was loaded before: its whole text is in the result of tool call use-1. Read it there; it is not repeated here.",
    );
    expect(output.metadata).toMatchObject({ already_loaded: true });
    expect(events).toHaveLength(1);
    expect(registry.state()).toBe(before);
  });

  test("points to the prompt for a skill that is in it: no event (M-34)", async () => {
    registry.preactivate(store.snapshot.skills.filter(({ name }) => name === "mail"));
    const output = await use("skill_load", { name: "mail" });
    expect(output.text).toBe(
      'Skill mail (workspace)\n\nIts whole text is in the system prompt already, under the heading "# Skill: mail". Read it there; it is not repeated here.',
    );
    expect(output.metadata).toMatchObject({ already_preloaded: true });
    expect(events).toEqual([]);
  });

  test("refuses the fourth with an error of execution, which becomes tool.failed (M-36)", async () => {
    for (const name of ["plan", "mail", "notes"]) await use("skill_load", { name });
    await expect(use("skill_load", { name: "pdf-forms" })).rejects.toMatchObject({
      errorClass: "execution_error",
      message: expect.stringContaining("Loaded, in this order: plan, mail, notes.") as string,
    });
    expect(events).toHaveLength(3);
  });

  test("gives the body again after a compaction, with an event (C-10)", async () => {
    await use("skill_load", { name: "mail" }, "use-1");
    registry.releaseCompacted(["mail"]);
    const { text } = await use("skill_load", { name: "mail" }, "use-2");
    expect(text).toContain("Ask before you send.");
    expect(events.map(({ type }) => type)).toEqual(["skill.loaded", "skill.loaded"]);
  });

  test("of two concurrent loads one gives the body and one the pointer", async () => {
    const outputs = await Promise.all([
      use("skill_load", { name: "mail" }, "use-1"),
      use("skill_load", { name: "mail" }, "use-2"),
    ]);
    expect(outputs.map(({ metadata }) => metadata?.["already_loaded"] ?? false)).toEqual([
      false,
      true,
    ]);
  });

  test("has not happened when its event was not taken", async () => {
    await expect(run(withFullQueue(), "skill_load", { name: "mail" })).rejects.toThrow(
      "the queue is full",
    );
    expect(registry.state().loaded).toEqual([]);
  });

  test("knows names exactly, and says what was probably meant or is wrong", async () => {
    put("broken", "x", "y", "---\nname: other\ndescription: x\n---\n");
    store = await createSkillStore({ workspace: folder });
    tools = named(skillTools({ store, registry }));
    await expect(use("skill_load", { name: "Mail" })).rejects.toMatchObject({
      errorClass: "not_found",
      message: 'there is no skill "Mail": did you mean mail?',
    });
    await expect(use("skill_load", { name: "broken" })).rejects.toThrow(/\[name-folder\]$/);
    const none = named(skillTools({ store: null, registry }));
    await expect(run(none, "skill_load", { name: "mail" })).rejects.toMatchObject({
      errorClass: "execution_error",
    });
  });

  test.each(["SKILL.md", "./SKILL.md", "SKILL.md/", "skill.md"])(
    "gives the body by the name of its file, %s, within the budget and as the session knows it",
    async (file) => {
      writeFileSync(join(folder, ".strata/skills/mail/SKILL.md"), "---\nname: mail\n---\nOther.");
      const { text } = await use("skill_load", { name: "mail", file });
      expect(text).toMatch(/^# Skill: mail .*\n\nAsk before you send\.$/);
      expect(events.map(({ type }) => type)).toEqual(["skill.loaded"]);
      for (const name of ["plan", "notes"]) await use("skill_load", { name });
      await expect(use("skill_load", { name: "pdf-forms", file })).rejects.toThrow(
        "a session loads at most 3 skills",
      );
    },
  );

  test("reads a file of the skill, and none of another", async () => {
    writeFileSync(join(folder, ".strata/skills/mail/rules.md"), "Be kind.");
    expect((await use("skill_load", { name: "mail", file: "rules.md" })).text).toBe(
      "# File rules.md of skill mail\n\nBe kind.",
    );
    await expect(
      use("skill_load", { name: "mail", file: "../plan/SKILL.md" }),
    ).rejects.toMatchObject({ errorClass: "permission_denied" });
    expect(registry.state().loaded).toEqual([]);
  });
});

describe("skill_save (M-54)", () => {
  const input = {
    name: "tests",
    description: "Runs tests.",
    body: "Run them.",
    metadata: { v: 1 },
  };

  test("keeps a new skill for later sessions, and says so to the log", async () => {
    const output = await use("skill_save", input);
    expect(output).toEqual({
      text: "Saved skill tests in .strata/skills/tests. Sessions that begin from now on have it.",
      filesModified: [".strata/skills/tests/SKILL.md"],
      metadata: { skill_id: "tests", skill_version: "12639507dd1ed11e", size_tokens: 2 },
    });
    expect(events).toMatchObject([
      {
        type: "skill.modified",
        payload: {
          skill_id: "tests",
          source: "workspace",
          operation: "created",
          before_version: null,
          after_version: "12639507dd1ed11e",
        },
      },
    ]);
    const next = await createSkillStore({ workspace: folder });
    expect(next.snapshot.find("tests")).toMatchObject({ body: "Run them.", metadata: { v: "1" } });
    await expect(use("skill_load", { name: "tests" })).rejects.toThrow(/there is no skill/);
  });

  test("replaces nothing, and emits no event when it fails", async () => {
    await expect(use("skill_save", { ...input, name: "mail" })).rejects.toMatchObject({
      errorClass: "validation_error",
    });
    await expect(use("skill_save", { ...input, name: "../x" })).rejects.toThrow(/name-characters/);
    await expect(use("skill_save", { ...input, metadata: { a: [] } })).rejects.toThrow(
      /metadata\.a/,
    );
    expect(events).toEqual([]);
  });

  test.each([
    ["a zero byte", "a\0b", /file-text/],
    ["half a character", "a\ud800b", /half a character/],
  ])("saves nothing that could not be read again: %s", async (_what, body, reason) => {
    await expect(use("skill_save", { ...input, body })).rejects.toThrow(reason);
    await use("skill_save", input);
    const next = await createSkillStore({ workspace: folder });
    expect(next.snapshot.problems).toEqual([]);
  });

  test("has happened also when its event was not taken, and the metadata says so", async () => {
    const { metadata } = await run(withFullQueue(), "skill_save", input);
    expect(metadata).toMatchObject({ skill_id: "tests", events_not_taken: true });
  });

  test("is not for workers, even when one calls it", async () => {
    const call = { ...contextOf("use-1"), role: "worker" } as const;
    await expect(tools.get("skill_save")?.run(input, call)).rejects.toMatchObject({
      errorClass: "permission_denied",
    });
  });
});

test("what is in the prompt from the beginning is one event per body, without a turn (M-30, M-32)", () => {
  const preactivated = store.snapshot.skills.filter(({ name }) => name !== "plan");
  for (const draft of toPreactivationDrafts("session-1", preactivated)) bus.emit(draft);
  expect(events.map(({ turnId, payload }) => ({ turnId, payload }))).toMatchObject(
    ["mail", "notes", "pdf-forms"].map((name) => ({
      turnId: null,
      payload: { skill_id: name, load_reason: "always", triggered_by_tool_use_id: null },
    })),
  );
  expect(toPreactivationDrafts("session-1", [])).toEqual([]);
});

function use(name: string, input: ToolInput, toolUseId = "use-1"): Promise<ToolOutput> {
  return run(tools, name, input, toolUseId);
}

function run(
  given: ReadonlyMap<string, Tool>,
  name: string,
  input: ToolInput,
  toolUseId = "use-1",
): Promise<ToolOutput> {
  const tool = given.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.run(input, contextOf(toolUseId));
}

function withFullQueue(): ReadonlyMap<string, Tool> {
  return named(skillTools({ store, registry, emit: refuseEvents }));
}

function refuseEvents(): void {
  throw new Error("the queue is full");
}

function contextOf(toolUseId: string): ToolCallContext {
  const { signal } = new AbortController();
  return { sessionId: "session-1", turnId: "turn-1", toolUseId, role: "unified", signal };
}

function named(list: readonly Tool[]): ReadonlyMap<string, Tool> {
  return new Map(list.map((tool) => [tool.definition.name, tool]));
}

function put(name: string, description: string, body: string, text?: string): void {
  const path = join(folder, ".strata/skills", name);
  mkdirSync(path, { recursive: true });
  const own = `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`;
  writeFileSync(join(path, "SKILL.md"), text ?? own);
}
