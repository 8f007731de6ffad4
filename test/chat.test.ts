// Goal: `strata chat` as scripts and people use it. Method: the command on the simulator over loopback and on
// SQLite in a temporary folder; at the terminal with keys that are pressed and a terminal that is written to.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { plantedKey } from "../harness/planted-key.ts";
import { openLedger } from "../src/index.ts";
import type { ScriptStep } from "../src/simulator/index.ts";
import {
  eventsIn,
  leaveOpen,
  openChatKit,
  openTerminal,
  resumedBy,
  type ChatKit,
} from "./chat/chat-kit.ts";

let kit: ChatKit;
let chat: ChatKit["chat"];
let provide: ChatKit["provide"];
let folder: string;
let env: ChatKit["env"];

beforeEach(async () => {
  kit = await openChatKit();
  ({ chat, provide, folder, env } = kit);
});

afterEach(() => kit.close());

test("without a key the agent is simulated, with one notice and read-only tools", async () => {
  const { status, out, error } = await chat({ prompt: "What is in this folder?" });
  expect(status).toBe(0);
  expect(error).toMatch(/^answers are simulated: no provider has a key\. .*\n/);
  expect(out).toContain("I have looked into this: What is in this folder?");
  expect(error).toContain("✓ read README.md");
  expect(error).not.toMatch(/bash|write|edit/);
  expect(error).toMatch(/\$0\.\d+ in simulated dollars, .* read from cache, \$0\.\d+ saved\./);
  expect(await readdir(join(folder, "data"))).not.toContain("ledger.db");
});

test("in a script only answers go to stdout, and each line of standard input is a turn", async () => {
  await provide([{ text: "One." }, { text: "Two." }]);
  const { status, out, error } = await chat({
    lines: ["first", "", "/cost", "second", "/quit", "x"],
  });
  expect(status).toBe(0);
  expect(out).toMatch(
    /^> first\n\nOne\.\n\n> \/cost\n\ncost +\$.*for 1 call\n[\s\S]*\n> second\n\nTwo\.\n\n> \/quit\n$/,
  );
  expect(error).toMatch(/Continue with: strata chat --resume [\w-]+\n$/);
});

test("events are one JSON value per line, with what each call cost", async () => {
  await provide([{ text: "Hello\u009b31m" }]);
  const { out } = await chat({ words: ["--json"], prompt: "hi" });
  const events = eventsIn({ out });
  expect(
    events.map(({ type }) => type).filter((type) => type !== "phase" && type !== "text"),
  ).toEqual(["session", "said", "started", "route", "ended"]);
  const text = events.flatMap((event) => (event["type"] === "text" ? [event["text"]] : []));
  expect(text.join("")).toBe("Hello\u009b31m");
  expect(out).not.toContain("\u009b");
  expect(events.at(-1)).toMatchObject({
    end: "done",
    calls: [{ number: 1, status: "complete", costPicoUsd: expect.stringMatching(/^\d+$/) }],
    totals: { callCount: 1 },
  });
});

test("a resumed session continues where it was, and reads its cache", async () => {
  await provide(null);
  const first = await chat({ prompt: "Look around" });
  const id = resumedBy(first);
  const { out } = await chat({ words: ["--resume", "latest", "--json"], prompt: "And now?" });
  const [session] = out.split("\n").map((line) => JSON.parse(line === "" ? "null" : line));
  expect(session).toMatchObject({ type: "session", sessionId: id, totals: { callCount: 3 } });
  const end = JSON.parse(out.trimEnd().split("\n").at(-1) ?? "");
  expect(end.calls[0].usage.cacheReadTokens).toBeGreaterThan(0);
});

test("a turn that a process left open is resumed", async () => {
  await provide([{ text: "One." }, { text: "Two." }]);
  const first = await chat({ prompt: "first" });
  const id = resumedBy(first);
  await leaveOpen(join(folder, "data", "ledger.db"), id);
  const { out } = await chat({ words: ["--resume", id] });
  expect(out).toContain("The last turn was left open; resuming it.\n\nTwo.\n");
});

test("messages that wait in a session run when it is resumed, before what is typed", async () => {
  await provide([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  const sessionId = resumedBy(await chat({ prompt: "first" }));
  const ledger = await openLedger(join(folder, "data", "ledger.db"));
  const eventJson = JSON.stringify({ content: "second", source: "webhook" });
  const item = { id: "q1", sessionId, mode: "collect", model: null, queuedMs: 0 } as const;
  await ledger.enqueue({ ...item, eventJson });
  await ledger.enqueue({ ...item, id: "q2", eventJson });
  await ledger.close();
  const { out } = await chat({ words: ["--resume", sessionId], lines: ["third"] });
  expect(out).toContain("A message waited in this session; running it.\n\nTwo.\n");
  expect(out.split("Two.")).toHaveLength(2);
  expect(out).toContain("Three.");
});

const writes: ScriptStep = {
  toolCalls: [{ name: "write", input: { path: "made.txt", content: "made" } }],
};

test("without a terminal to ask on, the agent gets no tool that changes anything", async () => {
  await provide([writes, { text: "Done." }]);
  const { error } = await chat({ prompt: "go", words: ["--workspace", folder] });
  expect(error).toMatch(/✗ write made\.txt {2}permission_denied/);
  await expect(readFile(join(folder, "made.txt"), "utf8")).rejects.toThrow("ENOENT");
});

test("--yes allows every tool", async () => {
  await provide([writes, { text: "Done." }]);
  const { status } = await chat({ prompt: "go", words: ["--workspace", folder, "--yes"] });
  expect(status).toBe(0);
  expect(await readFile(join(folder, "made.txt"), "utf8")).toBe("made");
});

test("a provider's refusal is printed with a hint and without the key", async () => {
  await provide([{ text: "x" }]);
  env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9";
  await writeFile(
    join(folder, "strata.yaml"),
    "providers:\n  anthropic:\n    retries:\n      attempts_max: 1\n",
  );
  const words = ["--config", join(folder, "strata.yaml")];
  const { status, error, out } = await chat({ prompt: "hi", words });
  expect(status).toBe(1);
  expect(error).toMatch(/The provider did not answer \(unreachable\): [\s\S]*check the network/);
  expect(error + out).not.toContain(plantedKey);
});

test("escape codes of models and tools never reach a terminal", async () => {
  await writeFile(join(folder, "evil.txt"), "\u001b]0;owned\u0007\u001b[2J");
  await provide([
    {
      text: "\u001b[31mred\u001b[0m",
      toolCalls: [{ name: "read", input: { path: "evil\u001b[1m" } }],
    },
    { text: "done\u001b[2J" },
  ]);
  const { out, error } = await chat({ prompt: "x", words: ["--workspace", folder] });
  expect(out).toBe("red\ndone\n");
  expect(error).not.toMatch(/\u001b/); // oxlint-disable-line no-control-regex
});

test("slash commands fork and list sessions, show the context and switch the model", async () => {
  await provide(null);
  const { out } = await chat({
    lines: [
      "/compact",
      "Look around",
      "/compact",
      "/fork try-it",
      "/model haikuu",
      "/model claude-haiku-5-5",
      "/sessions",
      "/context",
      "/compact",
      "/memory",
      "/skills",
      "/help",
      "/fork",
    ],
    words: ["--workspace", folder],
  });
  expect(out).toContain("This is try-it now.");
  expect(out).toContain('model "haikuu" is unknown');
  expect(out).toMatch(
    /claude-haiku-5-5 answers from now on\. Nothing is cached there yet: the next call sends \S+ tokens uncached, about \$0\.\d+\.\nThe cache of claude-sonnet-5-5 stays valid/,
  );
  expect(out).toMatch(/\* {2}try-it +0 +\$0\.0000 .* Look around\n/);
  expect(out).toMatch(/T0 tools[\s\S]*T3 conversation[\s\S]*tool results/);
  expect(out).toContain("Nothing was compacted: the conversation is too short for that.");
  expect(out).toContain("there is nothing to compact yet");
  expect(out).toContain("MEMORY.md does not exist yet.");
  expect(out).toContain("There are no skills.");
});

test("at a terminal tools need a confirmation, messages steer the agent, and Ctrl-C stops it", async () => {
  await provide(
    [writes, { text: "Written." }, { text: "Noted." }, { text: "never", times: "always" }],
    150,
  );
  const terminal = openTerminal();
  const ran = chat({ words: ["--workspace", folder], terminal });
  await terminal.press(
    [/\/help\s+lists\s+commands/, "go\r"],
    [/\+ made/, "also this\r"],
    [/\+ also this/, ""],
  );
  await new Promise((resolve) => setTimeout(resolve, 700));
  await terminal.press(
    [/(?:)/, "y"],
    [/Written\.|Noted\./, ""],
    [/\$0\.\d+ · (?:saved|\$)/, "again\r"],
    [/working|preparing/, "\u0003"],
    [/Stopped\./, "\u0004"],
  );
  const { status, error } = await ran;
  expect(status).toBe(0);
  expect(error).toContain("Continue with: strata chat --resume");
  expect(await readFile(join(folder, "made.txt"), "utf8")).toBe("made");
  expect(terminal.isRaw()).toBe(false);
});

test("Ctrl-C twice quits while a turn runs", async () => {
  await provide([{ text: "late" }], 5000);
  const terminal = openTerminal();
  const ran = chat({ words: ["--workspace", folder], terminal });
  await terminal.press(
    [/\/help\s+lists\s+commands/, "go\r"],
    [/working/, "\u0003"],
    [/(?:)/, "\u0003"],
  );
  expect((await ran).status).toBe(130);
});
