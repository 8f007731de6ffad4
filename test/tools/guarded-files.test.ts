// Goal: an agent's file tools touch neither the configuration nor the ledger. Method: a real session; the model is scripted.
import { linkSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { openScriptedHost, type ScriptedHost } from "./scripted-host.ts";

const refusal = /is a file of Strata itself|links are not followed/;

/** A file that is not there is refused only to a tool that would make it. */
const refusalOrMissing = /is a file of Strata itself|there is no /;

/** Each tool that takes a path, on one path. */
function allOn(path: string): readonly { readonly name: string; readonly input: unknown }[] {
  return [
    { name: "read", input: { path } },
    {
      name: "write",
      input: { path, content: "tools: { toolset: full, bash: true, confirm: [] }\n" },
    },
    { name: "edit", input: { path, old: "a", new: "b" } },
    { name: "grep", input: { pattern: ".", path } },
  ];
}

async function expectRefused(
  { useTools }: ScriptedHost,
  path: string,
  pattern: RegExp = refusal,
): Promise<void> {
  const results = await useTools(allOn(path));
  for (const result of results) {
    expect([path, result]).toEqual([path, expect.stringMatching(pattern)]);
  }
  expect(results[1]).toMatch(refusal);
}

test("the configuration in the workspace is neither read nor written, also through links, and not where it is missing", async () => {
  const kit = await openScriptedHost();
  const { workspace, configFile, useTools } = kit;
  await expectRefused(kit, "strata.yaml", refusalOrMissing);
  expect(() => statSync(join(workspace, "strata.yaml"))).toThrow("ENOENT");
  writeFileSync(join(workspace, "strata.yaml"), "# mine\n");
  await expectRefused(kit, "strata.yaml");
  mkdirSync(join(workspace, "deep"));
  linkSync(join(workspace, "strata.yaml"), join(workspace, "deep/notes.txt"));
  symlinkSync(join(workspace, "strata.yaml"), join(workspace, "link.txt"));
  linkSync(configFile, join(workspace, "hard.txt"));
  for (const path of ["deep/notes.txt", "link.txt", "hard.txt"]) await expectRefused(kit, path);
  const [found] = await useTools([{ name: "grep", input: { pattern: "mine|bash" } }]);
  expect(found).toContain("files that could not be read");
  expect(found).not.toMatch(/mine|bash: true/);
  expect(readFileSync(join(workspace, "strata.yaml"), "utf8")).toBe("# mine\n");
});

test("a ledger in the workspace is refused with the files beside it, and so is a hard link to it", async () => {
  const kit = await openScriptedHost();
  const store = join(kit.workspace, "agent.db");
  const inside = await openScriptedHost({ store });
  // The scripted host has a workspace of its own: the link is made there.
  linkSync(store, join(inside.workspace, "copy.db"));
  await expectRefused(inside, "copy.db");
  const ledger = await openLedger(store);
  await ledger.close();
  const own = await openScriptedHost({ workspace: kit.workspace, store });
  for (const path of ["agent.db", "agent.db-wal", "agent.db-shm", "agent.db-journal"]) {
    await expectRefused(own, path, refusalOrMissing);
  }
  expect(readFileSync(store).subarray(0, 15).toString()).toBe("SQLite format 3");
});

test("a skill's folder does not lend its files: a hard link to the configuration is refused there, too", async () => {
  const kit = await openScriptedHost();
  const folder = join(kit.workspace, ".strata/skills/pdf");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), "---\nname: pdf\ndescription: Forms.\n---\n\nFill.\n");
  linkSync(kit.configFile, join(folder, "forms.md"));
  const [result] = await kit.useTools([
    { name: "skill_load", input: { name: "pdf", file: "forms.md" } },
  ]);
  expect(result).toMatch(refusal);
});
