// Goal: skills on disk, the prompt, the registry and the log agree. Method: one session over a real folder (CF-C).
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findPolicy } from "../../src/core/cache/policies.ts";
import { toPreactivationDrafts } from "../../src/core/skills/activation-events.ts";
import { skillAdvice, skillRules } from "../../src/core/skills/skill-rules.ts";
import { createSkillRegistry } from "../../src/core/skills/skill-registry.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { createSkillStore, type SkillStore } from "../../src/edge/files/skills/skill-store.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session } from "../../src/core/session/session.ts";
import { claude, options } from "../conformance/test-kit.ts";

let folder = "";
let store: SkillStore;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-session-skills-"));
  put("mail", "Ask before you send.");
  put("pdf", "Open the form, then fill it.");
  put("novel", "Once upon a time. ".repeat(2000));
  store = await createSkillStore({ workspace: folder });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a skill is in the prompt whole or not at all, and the index says which", () => {
  const session = sessionWith(store);
  const text = session.thread.foundation.system.map((block) => block.text).join("\n");
  expect(session.padding.preactivated).toEqual(["mail", "pdf"]);
  expect(text).toContain("- mail [preloaded]: About mail.");
  expect(text).toContain("- novel: About novel.");
  expect(text).toContain("# Skill: pdf\n\nOpen the form, then fill it.");
  expect(text).not.toContain("Once upon a time.");
});

test("what is in the prompt is in the registry and in the log, and is only pointed to", () => {
  const { padding } = sessionWith(store);
  const inPrompt = store.snapshot.skills.filter(({ name }) => padding.preactivated.includes(name));
  const registry = createSkillRegistry();
  registry.preactivate(inPrompt);
  const kinds = store.snapshot.skills.map((skill) => registry.plan(skill, "use-1").kind);
  expect(kinds).toEqual(["preactivated", "load", "preactivated"]);
  const drafts = toPreactivationDrafts("session-1", inPrompt);
  expect(drafts.map(({ payload }) => payload.skill_id)).toEqual(["mail", "pdf"]);
});

test("without skills there is no index, nothing preactivated and no event", async () => {
  const session = sessionWith(await createSkillStore({}));
  const text = session.thread.foundation.system.map((block) => block.text).join("\n");
  // The padding has a section of that name.
  expect(text.split("# Operating context")[0]).not.toContain("## Skills");
  expect(session.padding.preactivated).toEqual([]);
});

test("two readings of the same folder give the same bytes (M-22)", async () => {
  const again = await createSkillStore({ workspace: folder });
  expect(keyOf(again)).toBe(keyOf(store));
});

test("docs/skills.md lists every rule and every warning with its meaning", () => {
  const rows = [
    ...readFileSync("docs/skills.md", "utf8").matchAll(/^\| `([a-z-]+)` +\| (.+?) +\|$/gm),
  ];
  const told = Object.fromEntries(rows.map(([, rule = "", meaning = ""]) => [rule, meaning]));
  expect(told).toMatchObject({ ...skillRules, ...skillAdvice });
});

function sessionWith({ snapshot }: SkillStore): Session {
  return openSession({
    ...claude,
    policy: findPolicy("metis"),
    context: { role: "unified", persona: { identity: "You are a careful helper." } },
    skills: snapshot.skills,
    counter: cheapCounter,
    options,
  });
}

function keyOf(skills: SkillStore): string {
  return sessionWith(skills).thread.foundation.end.key;
}

function put(name: string, body: string): void {
  const path = join(folder, ".strata/skills", name);
  mkdirSync(path, { recursive: true });
  const text = `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}\n`;
  writeFileSync(join(path, "SKILL.md"), text);
}
