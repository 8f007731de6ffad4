// Goal: a memory file or a document that cannot be read never stops a turn. Method: real sessions; the file is broken between
// two turns and before the first one.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { StrataEvent } from "../../src/core/events/event.ts";
import { openScriptedHost, type ScriptedHost } from "./scripted-host.ts";

const makePipe = "mkfifo";

/** Each puts something in the place of a file that no text can be read from. */
const ways: Readonly<Record<string, (path: string) => void>> = {
  "a bad byte": (path) => writeFileSync(path, Buffer.from("caf\u00e9\n", "latin1")),
  "100 MB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 100_000_000);
  },
  "a pipe": (path) => void execFileSync(makePipe, [path]),
  "a link": (path) => symlinkSync("/etc/hostname", path),
  "a folder": (path) => mkdirSync(path),
};

function breakFile(path: string, way: string): void {
  rmSync(path, { recursive: true, force: true });
  ways[way]?.(path);
}

/** All that the model was sent with the last call. */
function lastPrompt({ prompts }: ScriptedHost): string {
  return JSON.stringify(prompts.at(-1));
}

function lastMessage({ prompts }: ScriptedHost): string {
  return JSON.stringify(prompts.at(-1)?.turns.at(-1));
}

describe.each(Object.keys(ways))("%s", (way) => {
  test("in the place of MEMORY.md and USER.md: turns go on with the last good texts", async () => {
    const kit = await openScriptedHost();
    const { host, workspace, notices } = kit;
    const events: StrataEvent[] = [];
    host.events.subscribe((event) => void events.push(event));
    const paths = ["MEMORY.md", "USER.md"].map((file) => join(workspace, ".strata", file));
    mkdirSync(join(workspace, ".strata"));
    for (const path of paths) writeFileSync(path, "Uses npm.\n");
    const session = await host.engine.session("s1");
    const run = async (words: string): Promise<string> => (await session.run(words).result).end;
    expect(await run("One.")).toBe("done");
    for (const path of paths) writeFileSync(path, "Uses npm.\nLikes tea.\n");
    expect(await run("Two.")).toBe("done");
    for (const path of paths) breakFile(path, way);
    expect(await run("Three.")).toBe("done");
    expect(await run("Four.")).toBe("done");
    // Both files, with the last message.
    expect(lastMessage(kit).split("+ Likes tea.")).toHaveLength(3);
    expect(notices.filter((notice) => /(?:MEMORY|USER)\.md/.test(notice))).toEqual([
      expect.stringMatching(
        /^USER\.md cannot be read: .*; the session goes on with its last good text \(21 bytes\)\./,
      ),
      expect.stringMatching(
        /^MEMORY\.md cannot be read: .*; the session goes on with its last good text \(21 bytes\)\./,
      ),
    ]);
    expect(events.filter(({ type }) => type === "memory.unreadable")).toMatchObject([
      { sessionId: "s1", payload: { file: "USER.md", kept_size_bytes: 21 } },
      { sessionId: "s1", payload: { file: "MEMORY.md", kept_size_bytes: 21 } },
    ]);
    for (const path of paths) rmSync(path, { recursive: true, force: true });
    for (const path of paths) writeFileSync(path, "Uses pnpm.\n");
    expect(await run("Five.")).toBe("done");
    expect(lastPrompt(kit)).toContain("+ Uses pnpm.");
    expect((await host.ledger.findSession("s1"))?.openTurnId).toBeNull();
  });

  test("before the first turn: memory, documents and skills are left out or shown in part, and reported", async () => {
    const kit = await openScriptedHost();
    mkdirSync(join(kit.workspace, ".strata/skills/pdf"), { recursive: true });
    for (const path of [".strata/MEMORY.md", "AGENTS.md", ".strata/skills/pdf/SKILL.md"]) {
      breakFile(join(kit.workspace, path), way);
    }
    const [result] = await kit.useTools([
      { name: "memory_add", input: { file: "MEMORY.md", entry: "A fact." } },
    ]);
    expect(result).toMatch(/correct it by hand|symbolic link|neither a file|is a folder/);
    const reported = kit.notices.join("\n");
    expect(reported).toContain("the session goes on without it");
    expect(reported).toContain("AGENTS.md: ");
    expect(reported).toContain("skill .strata/skills/pdf is left out");
    expect((await kit.host.ledger.findSession("s1"))?.openTurnId).toBeNull();
  });
});

test("a resumed session whose memory broke meanwhile keeps the text of its system prompt", async () => {
  const kit = await openScriptedHost();
  const path = join(kit.workspace, ".strata/MEMORY.md");
  mkdirSync(join(kit.workspace, ".strata"));
  writeFileSync(path, "Uses npm.\n");
  await kit.useTools([]);
  breakFile(path, "a bad byte");
  const again = await openScriptedHost({
    workspace: kit.workspace,
    store: join(kit.outside, "ledger.db"),
  });
  await again.useTools([]);
  expect(lastPrompt(again)).toContain("Uses npm.");
  expect(lastPrompt(again)).not.toContain("Memory has changed");
  expect(again.notices.join("\n")).toContain("its last good text (9 bytes)");
});

test("a workspace that is gone is an error with a code and a hint", async () => {
  const kit = await openScriptedHost();
  rmSync(kit.workspace, { recursive: true });
  await expect(
    kit.host.engine.session("s1").then((session) => session.run("x").result),
  ).rejects.toMatchObject({
    code: "not-found",
    hint: expect.stringContaining("folder"),
  });
});
