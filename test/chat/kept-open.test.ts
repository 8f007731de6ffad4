// Goal: a chat that a person keeps open. Method: keys that are pressed and a terminal that is written to, on the simulator over loopback;
// what the model was sent is read from the ledger.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slashSpecs } from "../../src/cli/chat/slash/slash-words.ts";
import type { Block } from "../../src/core/message/message.ts";
import { openLedger } from "../../src/index.ts";
import { openChatKit, openTerminal, type ChatKit, type FakeTerminal } from "./chat-kit.ts";

let kit: ChatKit;

beforeEach(async () => {
  kit = await openChatKit();
});

afterEach(() => kit.close());

const ctrlD = "\u0004";
const ready = /lists commands[\s\S]*>\s*$/;

async function open(
  words: readonly string[] = [],
): Promise<{ terminal: FakeTerminal; ended: Promise<unknown> }> {
  const terminal = openTerminal();
  const ended = kit.chat({ terminal, words: ["--workspace", kit.folder, ...words] });
  return { terminal, ended };
}

/** What persons and their files said, oldest session first. */
async function sent(): Promise<readonly Block[]> {
  const ledger = await openLedger(join(kit.folder, "data", "ledger.db"));
  const blocks: Block[] = [];
  for (const { id } of (await ledger.listSessions({ limit: 10 })).toReversed()) {
    for await (const { message } of ledger.readThread({ sessionId: id })) {
      if (message.role === "user") blocks.push(...message.content);
    }
  }
  await ledger.close();
  return blocks;
}

test("Tab completes commands and paths; @path sends the file", async () => {
  await kit.provide([{ text: "Read." }, { text: "Again." }]);
  await mkdir(join(kit.folder, "src"));
  await writeFile(join(kit.folder, "src", "greet.ts"), "export const x = 1;\n");
  const { terminal, ended } = await open();
  await terminal.press(
    [ready, "/mod\t"],
    [/> \/model\s*$/, "\u0015"],
    [/>\s*$/, "/co\t"],
    [/cost {2}context {2}compact[\s\S]*> \/co\s*$/, "\u0015"],
    [/>\s*$/, "look at @sr\t"],
    [/@src\/\s*$/, "g\t"],
    [/@src\/greet\.ts\s*$/, "\r"],
    [/Read\.[\s\S]*>\s*$/, ctrlD],
  );
  await ended;
  expect(await sent()).toEqual([
    { type: "text", text: "src/greet.ts:\n```\nexport const x = 1;\n\n```" },
    { type: "text", text: "look at @src/greet.ts" },
  ]);
});

test("!command runs as the person, and the agent reads it with the next message", async () => {
  await kit.provide([{ text: "I see." }]);
  const { terminal, ended } = await open();
  await terminal.press(
    [ready, "!echo mine; exit 2\r"],
    [/exit status 2[\s\S]*>\s*$/, "what happened?\r"],
    [/I see\.[\s\S]*>\s*$/, ctrlD],
  );
  await ended;
  expect(await sent()).toEqual([
    {
      type: "text",
      text: `I ran this command in ${kit.folder}:\n$ echo mine; exit 2\nmine\nexit status 2`,
    },
    { type: "text", text: "what happened?" },
  ]);
});

test("a piped line that begins with ! runs nothing: it is words for the agent", async () => {
  await kit.provide([{ text: "No." }]);
  const file = join(kit.folder, "made");
  await kit.chat({ lines: [`!touch ${file}`], words: ["--workspace", kit.folder] });
  await expect(readFile(file)).rejects.toThrow("ENOENT");
  expect(await sent()).toEqual([{ type: "text", text: `!touch ${file}` }]);
});

test("/new begins another conversation, /clear empties the screen, and what was typed is there in the next chat", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }]);
  const first = await open();
  await first.terminal.press(
    [ready, "first words\r"],
    [/One\.[\s\S]*\n\d[^\n]*saved[^\n]*\n>\s*$/, "/new\r"],
    [
      /This is a new conversation\. \w{8} is unchanged: \/sessions \w{8}\s+goes\s+back\.[\s\S]*>\s*$/,
      "second words\r",
    ],
    [/Two\.[\s\S]*\n\d[^\n]*saved[^\n]*\n>\s*$/, "/clear\r"],
    [/>\s*$/, ctrlD],
  );
  await first.ended;
  expect(first.terminal.shown()).not.toContain("Two.");
  const ledger = await openLedger(join(kit.folder, "data", "ledger.db"));
  expect(await ledger.listSessions({ limit: 10 })).toHaveLength(2);
  await ledger.close();

  const second = await open();
  await second.terminal.press(
    [ready, "\u001b[A"],
    [/> \/clear\s*$/, "\u001b[A"],
    [/> second words\s*$/, "\u0015"],
    [/>\s*$/, ctrlD],
  );
  await second.ended;
});

test("a spending cap warns before it is reached, and stops the call that would pass it", async () => {
  await kit.provide([{ text: "Short." }, { text: "Short." }]);
  const here = ["--workspace", kit.folder];
  await expect(kit.chat({ words: [...here, "--cap", "x"], prompt: "hi" })).rejects.toThrow(
    "--cap is x",
  );
  const first = await kit.chat({ words: here, prompt: "hello" });
  const spent = Number(/\$(\d\.\d+),/.exec(first.error)?.[1]);
  expect(spent).toBeGreaterThan(0.001);

  const again = ["--resume", "latest", ...here, "--cap", (spent / 0.9).toFixed(6)];
  const capped = await kit.chat({ words: again, lines: ["go on", "/cost"] });
  expect(capped.out).toMatch(
    /\$0\.\d+ of the cap of \$0\.\d+ for this session is spent \((?:89|9\d) %\)\. A call that would pass it is not sent; --cap or spending\.session_usd raises it\./,
  );
  expect(capped.out.match(/of the cap of/g)).toHaveLength(1);
  expect(capped.out).toContain("Not sent: ");
  expect(capped.status).toBe(1);
});

test("a simulated chat says that it works in a demo folder, and how to work here", async () => {
  const terminal = openTerminal();
  const ended = kit.chat({ terminal });
  await terminal.press([/Working in a demo folder; --workspace \. for yours\.[\s\S]*>\s*$/, ctrlD]);
  await ended;
  const { error } = await kit.chat({ prompt: "hi" });
  expect(error).toContain("Working in a demo folder; --workspace . for yours.\n");
  const own = await kit.chat({ prompt: "hi", words: ["--workspace", kit.folder] });
  expect(own.error).not.toContain("demo folder");
});

test("docs/chat.md names every command and key that the chat has", async () => {
  const text = await readFile("docs/chat.md", "utf8");
  const documented = [...text.matchAll(/^\| `\/(\w+)(?: (\[\w+\]))?` +\|/gm)].map(
    ([, name, operand]) => [name, operand],
  );
  expect(documented).toEqual(slashSpecs.map(({ name, operand }) => [name, operand]));
  const types = [...text.matchAll(/^\| `(\w+)` +\| `/gm)].map(([, type]) => type);
  expect(types).toEqual([
    "session",
    "said",
    "started",
    "route",
    "text",
    "thinking",
    "tool",
    "phase",
    "ended",
    "failed",
    "notice",
    "report",
    "context",
  ]);
  for (const option of ["--resume", "--model", "--workspace", "--cap", "--yes", "--json", "-p"])
    expect(text).toContain(option);
});
