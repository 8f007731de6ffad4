// Goal: what a person types can name commands, files and earlier input. Method: the pure parts by value, the others on a folder of the test's own.
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openScope } from "../../../edge/files/guard/scoped-files.ts";
import {
  editLine,
  emptyEditor,
  takeLine,
  wholeText,
  type Editor,
} from "../terminal/line-editor.ts";
import { complete, readToComplete } from "./complete.ts";
import { findCompletion } from "./find-completion.ts";
import { openHistory } from "./history-file.ts";
import { findMentions, readMentions } from "./mentions.ts";
import { createOwnCommands } from "./own-command.ts";

let folder: string;
const files = () => openScope(folder, { guardedFiles: () => [join(folder, "strata.yaml")] });
const model = { id: "some-model", imageMediaTypes: ["image/png"] };
const png = Buffer.from("\u0089PNG\r\n\u001a\n0000", "latin1");

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "strata-input-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe("Tab", () => {
  test.each([
    ["/mo", 3, { kind: "command", word: "mo" }],
    ["/model op", 9, { kind: "model", word: "op" }],
    ["see @src/gre", 12, { kind: "file", folder: "src/", word: "gre" }],
    ["see @src/gre and", 12, { kind: "file", folder: "src/", word: "gre" }],
    ["mail a@b", 8, { kind: "nothing" }],
    ["plain", 5, { kind: "nothing" }],
  ])("after %j at %d completes %o", (text, cursor, wanted) => {
    expect(readToComplete(text, cursor)).toEqual(wanted);
  });

  test.each([
    ["q", ["quit", "new"], { text: "uit ", hint: "" }],
    ["c", ["cost", "compact", "context"], { text: "o", hint: "cost  compact  context" }],
    ["s", ["src/"], { text: "rc/", hint: "" }],
    ["zz", ["quit"], { text: "", hint: "nothing begins with zz" }],
  ])("%j of %j", (word, candidates, wanted) => {
    expect(complete(word, candidates)).toEqual(wanted);
  });

  test("finds files through the guard of the workspace: nothing outside, no hidden ones unasked", async () => {
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src", "greet.ts"), "");
    await writeFile(join(folder, ".env"), "");
    expect(await completed("@s")).toEqual({ text: "rc/", hint: "" });
    expect(await completed("@src/g")).toEqual({ text: "reet.ts ", hint: "" });
    expect((await completed("@")).hint).toBe("");
    expect((await completed("@")).text).toBe("src/");
    expect(await completed("@.e")).toEqual({ text: "nv ", hint: "" });
    expect(await completed("@../")).toEqual({ text: "", hint: "" });
    expect((await completed("/model hai")).text).toBe("ku ");
  });
});

describe("a pasted text", () => {
  test("is folded if it is long, and sent whole", () => {
    const text = Array.from({ length: 40 }, (_, line) => `line ${line} $& $1`).join("\r\n");
    const typed = press(paste(text, press(emptyEditor, { sequence: "a" })), { sequence: "z" });
    expect(typed.text).toBe("a[pasted 1: 40 lines]z");
    expect(wholeText(typed)).toBe(`a${text.replaceAll("\r\n", "\n")}z`);
    expect(takeLine(typed).history).toEqual([wholeText(typed)]);
    expect(paste("x".repeat(5000)).text).toBe("[pasted 1: 5000 characters]");
  });

  test("is in the line if it is short; one Backspace takes a folded one away", () => {
    expect(paste("one\ntwo").text).toBe("one\ntwo");
    const folded = paste("x\n".repeat(30));
    expect(press(folded, { name: "backspace" }).text).toBe("");
  });
});

describe("the history", () => {
  test("lasts over chats in a file for its user alone, and stays small", async () => {
    const history = openHistory(folder);
    expect(await history.read()).toEqual([]);
    for (const text of ["one", "two\nlines", "two\nlines", " ", "x".repeat(5000)])
      history.add(text);
    await history.written();
    const file = join(folder, "chat-history.jsonl");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFile(file, `${await readFile(file, "utf8")}not json\n{"a":1}\n`);
    expect(await openHistory(folder).read()).toEqual(["one", "two\nlines"]);
    await writeFile(
      file,
      Array.from(
        { length: 2000 },
        (_, line) => `${JSON.stringify(`${line} ${"y".repeat(600)}`)}\n`,
      ).join(""),
    );
    const shorter = openHistory(folder);
    shorter.add("last");
    await shorter.written();
    expect((await stat(file)).size).toBeLessThan(400_000);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await openHistory(folder).read()).at(-1)).toBe("last");
  });
});

describe("@", () => {
  test("names paths, not addresses, and without the stop behind them", () => {
    expect(
      findMentions('read @src/a.ts, @"my file.md" and @b.ts. Mail me@x.org @src/a.ts'),
    ).toEqual(["src/a.ts", "my file.md", "b.ts"]);
  });

  test("sends the text of a file and an image that the model takes, before the words", async () => {
    await writeFile(join(folder, "a.md"), "# A\n```\ncode\n```\n");
    await writeFile(join(folder, "pic"), png);
    const { event, problems } = await readMentions("look at @a.md and @pic", files, model);
    expect(problems).toEqual([]);
    expect(event).toEqual({
      source: "human",
      attachments: [{ path: "a.md" }, { path: "pic" }],
      content: [
        { type: "text", text: "a.md:\n````\n# A\n```\ncode\n```\n\n````" },
        {
          type: "image",
          source: { kind: "base64", mediaType: "image/png", data: png.toString("base64") },
        },
        { type: "text", text: "look at @a.md and @pic" },
      ],
    });
  });

  test("says of each file why it is not sent: guarded, linked, too large, no text, not taken, not there", async () => {
    await writeFile(join(folder, "strata.yaml"), "secret: x\n");
    await writeFile(join(folder, "big.txt"), "x".repeat(200_001));
    await writeFile(join(folder, "bytes.bin"), Buffer.from([0xff, 0xfe, 0x00, 0xc3]));
    await writeFile(join(folder, "pic.jpg"), Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
    await symlink("/etc/passwd", join(folder, "link.txt"));
    const named =
      "@strata.yaml @link.txt @big.txt @bytes.bin @pic.jpg @gone.ts @/etc/passwd @../up.txt @word";
    const { event, problems } = await readMentions(named, files, model);
    expect(event.content).toBe(named);
    expect(problems).toEqual([
      expect.stringMatching(/^strata\.yaml is not sent: /),
      expect.stringMatching(/^link\.txt is not sent: /),
      "big.txt is not sent: it has 200.0 kB, more than 200.0 kB; the agent can read parts of it",
      "bytes.bin is not sent: it is neither text nor an image that models take",
      "pic.jpg is not sent: some-model takes no images of the type image/jpeg",
      "gone.ts is not sent: there is no such file",
      "/etc/passwd is not sent: only images are read from outside the workspace",
      expect.stringMatching(/^\.\.\/up\.txt is not sent: /),
    ]);
  });
});

test("a command of the person's own runs in the folder, and the agent gets what it printed once", async () => {
  const own = createOwnCommands({ PATH: process.env["PATH"], MINE: "yes" });
  expect(await own.run('echo "$MINE"; pwd; echo oh >&2; exit 3', folder)).toBe(
    `yes\n${folder}\noh\nexit status 3`,
  );
  expect(own.takeOutput()).toBe(
    `I ran this command in ${folder}:\n$ echo "$MINE"; pwd; echo oh >&2; exit 3\nyes\n${folder}\noh\nexit status 3`,
  );
  expect(own.takeOutput()).toBe("");
  const running = own.run("sleep 60", folder);
  expect(own.isRunning()).toBe(true);
  own.stop();
  expect(await running).toContain("It was stopped.");
});

function completed(text: string): ReturnType<typeof findCompletion> {
  return findCompletion({ text, cursor: text.length }, files);
}

function press(editor: Editor, ...keys: readonly Parameters<typeof editLine>[1][]): Editor {
  return keys.reduce(editLine, editor);
}

function paste(text: string, editor = emptyEditor): Editor {
  return press(editor, { name: "paste-start" }, { sequence: text }, { name: "paste-end" });
}
