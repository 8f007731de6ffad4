// A session in a folder with documents, memory and skills. The files of a machine and its name stay out of the records.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspaceWorld } from "../kit.ts";
import { asks, script } from "../replies.ts";
import type { Scenarios } from "../scenario.ts";
import type { Stage } from "../stage.ts";

const files = {
  "AGENTS.md": "Run the tests before you answer.\n",
  "SOUL.md": "You are patient.\n",
  "notes.txt": "The port is 4177.\n",
  ".strata/MEMORY.md": "Uses npm.\n",
  ".strata/skills/release/SKILL.md":
    "---\nname: release\ndescription: How a release is made.\n---\n\nTag it, then publish it.\n",
};

function makeWorkspace({ folder }: Stage): string {
  const workspace = join(folder, "work");
  for (const [path, text] of Object.entries(files)) {
    const file = join(workspace, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
  return workspace;
}

const parts = { runtime: { host: "golden", os: "linux", arch: "x64" } };

export const workspace: Scenarios = {
  "workspace-session": {
    answer: script(
      asks("Reading.", { name: "read", input: { path: "notes.txt" } }),
      asks("Loading.", { name: "skill_load", input: { name: "release" } }),
      asks("Keeping it.", {
        name: "memory_add",
        input: { file: "MEMORY.md", entry: "The port is 4177." },
      }),
      { text: "It is 4177." },
      asks("Outside.", { name: "read", input: { path: "../ledger.sqlite" } }),
      { text: "That is not allowed." },
    ),
    play: async (stage) => {
      const folder = makeWorkspace(stage);
      const start = () =>
        stage.start({
          world: ({ ledger, events }) =>
            openWorkspaceWorld({ workspace: folder, ledger, events, parts, now: stage.now }),
        });
      const process = await start();
      const session = await process.engine.open({ id: "golden" });
      await process.say(session, "Which port?");
      await process.end();
      const other = await start();
      const again = await other.engine.resume("golden");
      await other.say(again, "And what is outside?");
      await other.end();
    },
  },
};
