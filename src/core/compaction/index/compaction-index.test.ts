import { describe, expect, test } from "vitest";
import type { Message, Role } from "../../message/message.ts";
import { lengthCounter } from "../../tokens/token-counter.ts";
import type { HistoryMessage } from "../history.ts";
import { buildIndex, decodeIndex, encodeIndex, type CompactionIndex } from "./compaction-index.ts";

const countText = (text: string): number => lengthCounter.text(text);

function say(role: Role, text: string): Message {
  return { role, content: [{ type: "text", text }] };
}

function use(name: string, input: unknown): Message {
  return {
    role: "assistant",
    content: [{ type: "tool_use", id: "call-1", name, inputJson: JSON.stringify(input) }],
  };
}

function answer(text: string, isError = false): Message {
  const content = [{ type: "text", text }] as const;
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId: "call-1", content, isError }],
  };
}

function history(...messages: readonly Message[]): HistoryMessage[] {
  return messages.map((message, index) => ({
    turnId: "turn-1",
    index,
    message,
    tokens: lengthCounter.message(message),
  }));
}

/** Results as an agent sees them: many names, none of them used. */
function noise(from: number, count: number): Message {
  const names = Array.from(
    { length: count },
    (_, at) => `unusedName${from + at}Of lib/gen/file${from + at}.ts`,
  );
  return answer(names.join("\n"));
}

describe("the index of a fold", () => {
  test("holds what was planted in the folded part: asked for, written, failed (CF-J)", () => {
    const compacted = history(
      say("user", "Please fix retryWithBackoff in src/net/client.ts; the ticket is NET-482."),
      use("read", { path: "src/net/client.ts" }),
      noise(0, 2_000),
      use("edit", { path: "src/net/backoff.ts", text: "const jitterMsMax = 250;" }),
      answer("connect ECONNREFUSED 10.1.2.3:6432", true),
      noise(2_000, 2_000),
      use("bash", { command: "npm run -s check && npx vitest run src/net" }),
      use("bash", { command: "npm run -s check" }),
      noise(4_000, 500),
    );
    const index = buildIndex({ compacted, previous: null, countText });
    for (const planted of [
      "retryWithBackoff",
      "NET-482",
      "jitterMsMax",
      "src/net/: backoff.ts client.ts",
      "ECONNREFUSED",
      "10.1.2.3:6432",
      "npm run -s check",
    ]) {
      expect(index.text).toContain(planted);
    }
    expect(index.tokens).toBeLessThanOrEqual(2_000);
    expect(index.leftOut).toBeGreaterThan(8_000);
    expect(index.text.split("\n").at(-1)).toBe(`Left out: ${index.leftOut} less used`);
  });

  test("says nothing of what only the kept part has, and nothing that part shows already (CF-J)", () => {
    const compacted = history(say("user", "Rename oldName in src/a.ts and check src/b.ts"));
    const kept = history(use("edit", { path: "/srv/me/src/b.ts", text: "tailOnlyName" }));
    const { text } = buildIndex({ compacted, kept, previous: null, countText });
    expect(text).toBe(
      "Paths by folder; indented folders are inside the one above:\nsrc/: a.ts\nSymbols: oldName",
    );
  });

  test("writes shared folders once, and no name that a path says already", () => {
    const compacted = history(
      say(
        "user",
        "/srv/me/work/app/src/one.ts /srv/me/work/app/src/two.ts /srv/me/work/app/test/one.test.ts",
      ),
      say("assistant", "one.ts, src/two.ts and app.run of app.run.now"),
    );
    expect(buildIndex({ compacted, previous: null, countText }).text).toBe(
      [
        "Paths by folder; indented folders are inside the one above:",
        "/srv/me/work/app/:",
        " src/: one.ts two.ts",
        " test/: one.test.ts",
        "Symbols: app.run.now",
      ].join("\n"),
    );
  });

  test("writes the owner of several members once", () => {
    const compacted = history(
      say("assistant", "state.sessionId, runner.start and state.baseCommit, then state.agentType"),
    );
    expect(buildIndex({ compacted, previous: null, countText }).text).toBe(
      "Symbols: state.{agentType sessionId baseCommit} runner.start",
    );
  });

  test("a name stands there although the kept part thinks of it: thinking may go", () => {
    const compacted = history(say("assistant", "calls openPool"));
    const thinking = { type: "thinking", text: "openPool again", signature: "s" } as const;
    const kept = history({ role: "assistant", content: [thinking] });
    expect(buildIndex({ compacted, kept, previous: null, countText }).text).toBe(
      "Symbols: openPool",
    );
  });

  test("a folder with one unlikely name costs its whole line, so likelier names go first", () => {
    const compacted = history(
      answer(
        Array.from({ length: 60 }, (_, at) => `skills/long-folder-name-${at}/SKILL.md`).join("\n"),
      ),
      answer(Array.from({ length: 40 }, (_, at) => `shownName${at}`).join(" ")),
    );
    const index = buildIndex({ compacted, previous: null, tokensMax: 250, countText });
    const named = index.entries.filter(({ kind }) => kind === "symbol");
    expect(named).toHaveLength(40);
  });

  test("keeps commands whole: quotes, redirections, and no lines of a text that follows", () => {
    const command = "rg -n 'one|two run' src 2>&1 && npm run build <<EOF\nnot acommand\nEOF";
    const again = use("bash", { command });
    const { entries } = buildIndex({ compacted: history(again, again), previous: null, countText });
    const commands = entries.filter(({ kind }) => kind === "command").map(({ text }) => text);
    expect(commands.toSorted()).toEqual(["npm run build <<EOF", "rg -n 'one|two run' src 2>&1"]);
  });

  test("never takes more tokens than it may, however few those are", () => {
    const compacted = history(noise(0, 300));
    for (const tokensMax of [10, 50, 500]) {
      expect(
        buildIndex({ compacted, previous: null, tokensMax, countText }).tokens,
      ).toBeLessThanOrEqual(tokensMax);
    }
  });

  test("is empty for an empty part", () => {
    const nothing: CompactionIndex = { entries: [], resting: [], text: "", tokens: 0, leftOut: 0 };
    expect(buildIndex({ compacted: [], previous: null, countText })).toEqual(nothing);
  });

  test("is the same for the same input, to the byte", () => {
    const compacted = history(
      noise(0, 500),
      say("user", "aName bName cName dName src/x.ts src/y.ts"),
    );
    const [one, two] = [0, 1].map(() =>
      encodeIndex(buildIndex({ compacted, previous: null, countText })),
    );
    expect(one).toBe(two);
  });

  test("names no fields of tools, only what was put into them", () => {
    const compacted = history(use("edit", { file_path: "src/a.ts", old_string: "someValue" }));
    expect(buildIndex({ compacted, previous: null, countText }).text).not.toContain("file_path");
  });

  test("takes hostile messages in stride", { timeout: 20_000 }, () => {
    const deep = `${"[".repeat(3_000)}"deepName"${"]".repeat(3_000)}`;
    const compacted = history(
      answer("/a".repeat(500_000)),
      answer("aA ".repeat(300_000)),
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "t", inputJson: deep }] },
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "2", name: "t", inputJson: "{ broken rawName" }],
      },
      answer(Array.from({ length: 60_000 }, (_, at) => `manyName${at}X`).join(" ")),
    );
    const index = buildIndex({ compacted, previous: null, countText });
    expect(index.text).toContain("deepName");
    expect(index.text).toContain("rawName");
    expect(index.leftOut).toBeGreaterThan(59_000);
  });
});

function compactionAgain(previous: CompactionIndex | null, round: number): CompactionIndex {
  const compacted = history(
    say("user", `Now look at part${round}Name of src/part${round}/main.ts`),
    use("edit", { path: `src/part${round}/main.ts`, text: `helper${round}Name` }),
    noise(round * 1_000, 1_000),
    use("edit", { path: `src/part${round}/main.ts`, text: `helper${round}Name` }),
  );
  return buildIndex({ compacted, previous, countText });
}

describe("folds in a row", () => {
  test("ten of them keep the facts of the first, through storage", () => {
    let index: CompactionIndex | null = buildIndex({
      compacted: history(
        say(
          "user",
          "The database is db-main.internal:6432; the contract is CON-7781, see docs/rules.md",
        ),
        use("edit", { path: "src/db/connect.ts", text: "openPool" }),
        use("edit", { path: "src/db/connect.ts", text: "openPool" }),
        noise(900_000, 1_000),
      ),
      previous: null,
      countText,
    });
    for (let round = 1; round <= 10; round += 1) {
      const read: CompactionIndex | null = decodeIndex(encodeIndex(index));
      expect(read).toEqual(index);
      index = compactionAgain(read, round);
      expect(index.tokens).toBeLessThanOrEqual(2_000);
    }
    for (const fact of [
      "CON-7781",
      "docs/: rules.md",
      "openPool",
      "src/",
      "connect.ts",
      "part10Name",
      "helper9Name",
    ]) {
      expect(index.text).toContain(fact);
    }
  });

  test("what the kept part shows for a while comes back when that part is folded", () => {
    const ask = say("user", "The contract is CON-7781");
    const first = buildIndex({ compacted: history(ask), previous: null, countText });
    const mention = say("assistant", "CON-7781 is still open");
    const second = buildIndex({
      compacted: history(noise(0, 10)),
      kept: history(mention),
      previous: first,
      countText,
    });
    expect(second.text).not.toContain("CON-7781");
    const third = buildIndex({ compacted: history(mention), previous: second, countText });
    expect(third.entries.find(({ text }) => text === "CON-7781")).toEqual({
      text: "CON-7781",
      kind: "id",
      writes: 1,
      occurrences: 2,
      asks: 1,
      errors: 0,
      age: 0,
    });
  });
});

describe("a stored index", () => {
  test("that is none is null", () => {
    for (const json of ["", "null", "[]", "{", "{}", '{"text":1}'])
      expect(decodeIndex(json)).toBe(null);
  });

  test("is read as far as it can be; what cannot be read is counted", () => {
    const json =
      '{"text":"a","tokens":null,"entries":[["aName","symbol",2],["x","unknown"],7,[null]],"more":1}';
    expect(decodeIndex(json)).toEqual({
      entries: [
        { text: "aName", kind: "symbol", writes: 2, occurrences: 0, asks: 0, errors: 0, age: 0 },
      ],
      resting: [],
      text: "a",
      tokens: 0,
      leftOut: 3,
    });
  });
});
