import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { openSession } from "../session/open-session.ts";
import type { WorldSettings } from "./world-settings.ts";
import { openWorkspaceWorld } from "./workspace-world.ts";

let folder = "";
let ledger: Ledger;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-world-skills-"));
  for (const name of ["deploy", "release", "review"]) {
    mkdirSync(join(folder, ".strata/skills", name), { recursive: true });
    const about = `---\nname: ${name}\ndescription: How to ${name}, ${"step by step, ".repeat(8)}\n---\n`;
    writeFileSync(join(folder, ".strata/skills", name, "SKILL.md"), `${about}\nDo it.\n`);
  }
  ledger = await openLedger(":memory:");
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the list of skills is as long as the settings allow when the system text is made", async () => {
  let settings: WorldSettings = {};
  const makeWorld = openWorkspaceWorld({ workspace: folder, ledger, settings: () => settings });
  const world = await makeWorld({ sessionId: "s", agent: "ana", role: "unified" });
  const listed = async (): Promise<readonly string[]> => {
    const { parts, ...more } = await world.context();
    const { thread } = openSession({
      model: resolveModel("claude-sonnet-4-6").facts,
      protocol: anthropicMessages,
      policy: findPolicy("adaptive"),
      context: { role: "unified", ...parts },
      ...more,
      counter: cheapCounter,
      options: { outputTokensMax: 500, stream: true },
    });
    const system = thread.foundation.system.map(({ text }) => text).join("\n");
    return [...system.matchAll(/^- (\w+)[^:]*: How to|^To keep this list short, (.*)$/gm)].map(
      ([, name, note]) => name ?? note ?? "",
    );
  };
  expect(await listed()).toEqual(["deploy", "release", "review"]);
  settings = { skills: { indexLengthMax: 350 } };
  expect(await listed()).toEqual([
    "deploy",
    "descriptions that end in … are shortened, and 2 more skills are not listed; skill_search finds them all.",
  ]);
});
