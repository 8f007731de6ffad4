// Goal: a chat ends well whatever ends it: the output is complete, the status is right, nothing is left behind.
// Method: the command on the simulator over loopback; signals and closed pipes with the program in a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { toProgram } from "../run-strata.ts";
import { leaveOpen, openChatKit, openTerminal, resumedBy, type ChatKit } from "./chat-kit.ts";

let kit: ChatKit;

beforeEach(async () => {
  kit = await openChatKit();
});

afterEach(() => kit.close());

test("a script gets the answer to the byte, tabs and spaces included", async () => {
  const text = "Here:\n\n\tall:  \n\t\tgcc\n\n";
  await kit.provide([{ text }]);
  const { out } = await kit.chat({ prompt: "a makefile", words: ["--workspace", kit.folder] });
  expect(out).toBe(text);
});

test("a reply that is cut off is reported, also by the exit status", async () => {
  await kit.provide([{ text: "One two", stop: "output limit" }]);
  const { status, error } = await kit.chat({ prompt: "count" });
  expect(status).toBe(1);
  expect(error).toContain("The reply reached the maximum length and was cut off.");
});

test("an error is printed before the status line", async () => {
  await kit.provide([{ text: "One two", stop: "output limit" }]);
  const { out } = await kit.chat({ lines: ["count"], showsStatus: true });
  expect(out).toMatch(/One two\n\nThe reply reached .*\n\n\d.* of 1\.0M .*\n$/);
});

test("a blank line separates the answer to a resumed turn from the answer to the prompt", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  const id = resumedBy(await kit.chat({ prompt: "first" }));
  await leaveOpen(join(kit.folder, "data", "ledger.db"), id);
  const { out } = await kit.chat({ prompt: "third", words: ["--resume", id] });
  expect(out).toBe("Two.\n\nThree.\n");
});

test("quitting during a turn releases the terminal and ends the turn", async () => {
  await kit.provide([{ text: "late" }], 5000);
  const terminal = openTerminal();
  const ran = kit.chat({ words: ["--workspace", kit.folder], terminal });
  await terminal.press([/\/help\s+lists\s+commands/, "go\r"], [/working/, "/quit\r"]);
  expect((await ran).status).toBe(130);
  expect(terminal.isRaw()).toBe(false);
  expect(terminal.shown()).not.toContain("Stopped.");
  const ledger = await openLedger(join(kit.folder, "data", "ledger.db"));
  const [session] = await ledger.listSessions({});
  expect(session?.openTurnId).toBeNull();
  await ledger.close();
});

test("the last line repeats the typed options, quoted for a shell", async () => {
  await kit.provide([{ text: "One." }]);
  const store = join(kit.folder, "my ledger.db");
  const { error } = await kit.chat({ prompt: "hi", words: ["--store", store] });
  expect(error).toMatch(new RegExp(`--resume [\\w-]+ --store '${store}'\n$`));
});

describe("in a process of its own", () => {
  let temporary: string;
  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), "strata-ends-"));
  });
  afterEach(() => rmSync(temporary, { recursive: true, force: true }));

  function start(...words: readonly string[]): ReturnType<typeof spawn> {
    const [program = "", ...rest] = toProgram(["chat", ...words]);
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, HOME: kit.folder, TMPDIR: temporary };
    return spawn(program, rest, { env: { ...env, STRATA_DATA_DIR: kit.folder } });
  }

  function workspaces(): readonly string[] {
    return readdirSync(temporary).filter((name) => name.startsWith("strata-workspace-"));
  }

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s while nothing runs leaves no folder behind", async (signal, status) => {
    const child = start();
    child.stdin?.write("hello\n");
    let out = "";
    child.stdout?.on("data", (chunk) => (out += String(chunk)));
    await expect.poll(() => out).toContain("The last result was");
    const ledger = await openLedger(join(kit.folder, "simulated.db"));
    const readOpenTurns = async () =>
      (await ledger.listSessions({})).map(({ openTurnId }) => openTurnId);
    await expect.poll(readOpenTurns).toEqual([null]);
    await ledger.close();
    expect(workspaces()).toHaveLength(1);
    child.kill(signal);
    const [code] = await once(child, "exit");
    expect(code).toBe(status);
    expect(workspaces()).toEqual([]);
  });

  test("a closed reader leaves no folder and no open turn behind", async () => {
    const child = start("-p", "What is here?", "--json");
    child.stdin?.end();
    await once(child.stdout ?? child, "data");
    child.stdout?.destroy();
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    expect(workspaces()).toEqual([]);
    const ledger = await openLedger(join(kit.folder, "simulated.db"));
    const sessions = await ledger.listSessions({});
    expect(sessions.filter(({ openTurnId }) => openTurnId !== null)).toEqual([]);
    await ledger.close();
  });
});
