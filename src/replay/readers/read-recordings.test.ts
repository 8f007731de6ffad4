import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import type { Recorded } from "../recording.ts";
import { readRecordings } from "./read-recordings.ts";
import { charactersCounter, collect, requestsIn } from "./test-kit.ts";

const root = mkdtempSync(join(tmpdir(), "strata-recordings-"));
let folder = root;
let count = 0;
beforeEach(() => {
  count += 1;
  folder = join(root, String(count));
  mkdirSync(folder);
});
afterAll(() => rmSync(root, { recursive: true }));

const body = (text: string): string =>
  JSON.stringify({
    model: "claude-opus-4-6",
    max_tokens: 9,
    system: "Be brief.",
    messages: [{ role: "user", content: text }],
  });

function write(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  return path;
}

async function read(paths: readonly string[] = [folder]): Promise<Recorded[]> {
  return collect(readRecordings(paths, { counter: charactersCounter }));
}

/** Each value as short text, with paths relative to the folder. */
function shown(recorded: readonly Recorded[]): string[] {
  return recorded.map((each) => {
    if (each.type === "session") return `session ${relative(folder, each.session.file)}`;
    if (each.type === "request") return `request of ${relative(folder, each.sessionId)}`;
    return `${relative(folder, each.file)}:${each.line ?? ""} ${each.reason}`;
  });
}

describe("files and folders", () => {
  test("are read in the order of their names, and files of other kinds left alone", async () => {
    write("b.jsonl", body("b"));
    write("a/z.ndjson", body("az"));
    write("a/B.json", body("aB"));
    write("notes.md", "# Notes");
    expect(shown(await read())).toEqual([
      "session a/B.json",
      "request of a/B.json",
      "session a/z.ndjson",
      "request of a/z.ndjson",
      "session b.jsonl",
      "request of b.jsonl",
    ]);
  });

  test("a file that is named is read whatever it is called", async () => {
    expect(shown(await read([write("log.txt", body("x"))]))).toEqual([
      "session log.txt",
      "request of log.txt",
    ]);
  });

  test("links in a circle end, and no file is read twice", async () => {
    write("a.jsonl", body("a"));
    symlinkSync(folder, join(folder, "b"));
    symlinkSync(join(folder, "a.jsonl"), join(folder, "c.jsonl"));
    symlinkSync(join(folder, "nothing"), join(folder, "d"));
    symlinkSync(join(folder, "nothing"), join(folder, "e.jsonl"));
    expect(shown(await read())).toEqual([
      "session a.jsonl",
      "request of a.jsonl",
      "b: it was found under another path",
      "c.jsonl: it was found under another path",
      expect.stringMatching(/^e\.jsonl: it cannot be read: ENOENT/),
    ]);
  });

  test("a path that is not there is named", async () => {
    expect(shown(await read([join(folder, "gone")]))).toEqual([
      expect.stringMatching(/^gone: it cannot be read: ENOENT/),
    ]);
  });
});

describe("what cannot be used is named with its file and line", () => {
  test("empty files and files of no known format", async () => {
    write("empty.jsonl", "");
    write("blank.jsonl", "\n \r\n");
    write("package.json", '{\n  "name": "x",\n  "version": "1.0.0"\n}\n');
    expect(shown(await read())).toEqual([
      "blank.jsonl: it is empty",
      "empty.jsonl: it is empty",
      "package.json: it is of no known format",
    ]);
  });

  test("broken lines, lines that hold something else, and a last line cut off", async () => {
    write("a.jsonl", `{"a":\n${body("1")}\r\n[1]\n\n{"a":1}\n${body("2").slice(0, 40)}`);
    expect(shown(await read())).toEqual([
      "a.jsonl:1 it is not JSON",
      "session a.jsonl",
      "request of a.jsonl",
      "a.jsonl:3 it is not a JSON object",
      "a.jsonl:5 it holds no request",
      "a.jsonl:6 it is cut off",
    ]);
  });

  test("a file of a known format without a request", async () => {
    write("a.jsonl", '{"type":"summary","summary":"Fixing CI","leafUuid":"u1"}\n');
    expect(shown(await read())).toEqual(["a.jsonl: it holds no request"]);
  });
});

describe("a file that is one JSON value", () => {
  const bodies = [JSON.parse(body("1")), JSON.parse(body("2"))];

  test("is read whole: an object, or a list of them, on one line or on many", async () => {
    write("a.json", JSON.stringify(bodies[0], undefined, 2));
    write("b.json", JSON.stringify(bodies, undefined, 2));
    write("c.json", JSON.stringify(bodies));
    expect(shown(await read())).toEqual([
      "session a.json",
      "request of a.json",
      "session b.json",
      "request of b.json",
      "request of b.json",
      "session c.json",
      "request of c.json",
      "request of c.json",
    ]);
  });

  test("is named if it is cut off, or of no known format", async () => {
    write("a.json", JSON.stringify(bodies, undefined, 2).slice(0, -9));
    write("b.json", JSON.stringify({ name: "x" }, undefined, 2));
    expect(shown(await read())).toEqual([
      "a.json: it is not JSON",
      "b.json: it is of no known format",
    ]);
  });
});

describe("a format", () => {
  test("is told from every other by what is in the file", async () => {
    const fixtures = new URL("../../../fixtures/", import.meta.url).pathname;
    const paths = [join(fixtures, "recordings"), join(fixtures, "transcript.jsonl")];
    const formats = (await read(paths)).flatMap((each) =>
      each.type === "session" ? [[basename(each.session.file), each.session.format]] : [],
    );
    expect(formats).toEqual([
      ["ai-sdk.json", "ai-sdk"],
      ["gemini-cli.json", "gemini-cli"],
      ["hermes.jsonl", "hermes"],
      ["langchain.jsonl", "langchain"],
      ["opencode.json", "opencode"],
      ["otel.json", "otel"],
      ["transcript.jsonl", "claude-code"],
    ]);
  });
});

const bodyUsing = (input: string): string =>
  `{"model":"claude-opus-4-6","max_tokens":9,"messages":[{"role":"user","content":"hi"},` +
  `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}]}`;

describe("a reading", () => {
  test("reports progress", async () => {
    const first = write("a.jsonl", `${body("1")}\n`);
    const second = write("b.jsonl", `${body("22")}\n`);
    const reported: number[][] = [];
    const onProgress = (bytesRead: number, bytesTotal: number): void => {
      reported.push([bytesRead, bytesTotal]);
    };
    const options = { counter: charactersCounter, onProgress };
    await collect(readRecordings([first, second], options));
    const length = body("1").length + 1;
    expect(reported).toEqual([
      [length, 2 * length + 1],
      [length, 2 * length + 1],
      [2 * length + 1, 2 * length + 1],
      [2 * length + 1, 2 * length + 1],
    ]);
  });

  test("gives excerpts of the content only if asked", async () => {
    const path = write("a.jsonl", body("Why is CI red?"));
    const excerptsOf = async (excerpts: boolean): Promise<(string | undefined)[]> => {
      const options = { counter: charactersCounter, excerpts };
      const [request] = requestsIn(await collect(readRecordings([path], options)));
      return request?.append.map(({ excerpt }) => excerpt) ?? [];
    };
    expect(await excerptsOf(false)).toEqual([undefined, undefined]);
    expect(await excerptsOf(true)).toEqual(["Be brief.", "Why is CI red?"]);
  });

  test("sees that the keys of a tool's input changed places, also those that look like numbers", async () => {
    const path = write("a.jsonl", `${bodyUsing('{"2":0,"1":0}')}\n${bodyUsing('{"1":0,"2":0}')}\n`);
    expect(requestsIn(await read([path])).map(({ keep }) => keep)).toEqual([0, 1]);
  });

  test("can be left early", async () => {
    write("a.jsonl", `${body("1")}\n${body("2")}\n`);
    for await (const recorded of readRecordings([folder], { counter: charactersCounter })) {
      expect(recorded.type).toBe("session");
      break;
    }
  });
});
