// Going back to what compactions hide: found by words, read by turns, in one session's thread only (C-17).
import { expect, test } from "vitest";
import type { HistoryHit } from "../../../src/core/ledger/history-record.ts";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import type { Message } from "../../../src/core/message/message.ts";
import type { OpenLedger } from "../stores.ts";
import {
  answers,
  asks,
  assistant,
  call,
  counted,
  each,
  fail,
  lines,
  newCompaction,
  newTurn,
  open as openTurn,
  openSession,
  run,
  runAll,
  startMs,
  user,
  openWith,
  compactAfter,
} from "../test-kit.ts";

export function historyContract(open: OpenLedger): void {
  test("what a compaction hides is found, with its place; what is kept is not", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "where is the parser?", "in src/core/parse-json.ts");
    await say(ledger, "a", "t2", "and the writer?", "in src/core/write-json.ts");
    await say(ledger, "a", "t3", "and the reader?", "in src/core/read-json.ts");
    expect(await find(ledger, "a", "json")).toEqual([]);
    await compactionThrough(ledger, "a", "f1", "t2", "t3");
    const { hits, messages } = await ledger.searchHistory({
      sessionId: "a",
      text: "parse-json.ts",
    });
    expect(messages).toBe(4);
    expect(hits[0]).toEqual({
      turnId: "t1",
      turn: 1,
      index: 1,
      role: "assistant",
      toolName: null,
      timeMs: startMs + 10,
      excerpt: "in src/core/parse-json.ts",
      offset: 0,
      characters: 25,
      score: hits[0]?.score,
    });
    expect(await find(ledger, "a", "json")).toEqual(["t2.1", "t1.1"]);
    expect(await find(ledger, "a", "reader")).toEqual([]);
  });

  test.for<[string, string]>([
    ["src/core/foo-bar.ts", "src/core/foo-bar.ts"],
    ["SRC/CORE/foo-bar.ts", "src/core/foo-bar.ts"],
    ["foo-bar.ts", "src/core/foo-bar.ts"],
    ["foo", "src/core/foo-bar.ts"],
    ["bar", "src/core/foo-bar.ts:12"],
    ["foo-bar.ts", 'import "./foo-bar.ts"'],
    ["fooBar", "call fooBar(1)"],
    ["foo", "call fooBar(1)"],
    ["bar", "call foo_bar(1)"],
    ["foo_bar", "call foo_bar(1)"],
    ["HTTPServer", "new HTTPServer()"],
    ["server", "new HTTPServer()"],
    ["E1234", "error[E1234]: no"],
    ["--dry-run", "strata compact --dry-run"],
    ["@scope/name", "npm i @scope/name@1.2.3"],
    ["1.2.3", "npm i @scope/name@1.2.3"],
    ["https://example.com/a?b=c", "see https://example.com/a?b=c"],
    ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", "id 3f2504e0-4f89-11d3-9a0c-0305e82c3301"],
    ["12345678901234567890", "number 12345678901234567890"],
    ["STRATA_STORE", "export STRATA_STORE=/tmp/x"],
    ["検索", "全文検索を使う"],
    ["索", "全文検索を使う"],
    ["한국어", "한국어로 말해"],
    ["naïve", "a naïve café"],
    ["ﬁle", "the file"],
    ["Ω", "10 Ω"],
  ])("%j finds %j", async ([text, said]) => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "something else", "nothing of it");
    await say(ledger, "a", "t2", "a question", said);
    await compactionThrough(ledger, "a", "f1", "t2");
    expect((await find(ledger, "a", text))[0]).toBe("t2.1");
  });

  test.for<[string, string]>([
    ["nothing", ""],
    ["spaces", " \n\t "],
    ["quotes", `"'\`"" OR '1'='1`],
    ["operators", "AND OR NOT NEAR( NEAR/2 a* ^b -c +d col:x {a b} (((("],
    ["those of PostgreSQL", "a & b | !c <-> d :* 'x':1A \\' $1 ?"],
    ["SQL", "'; DROP TABLE messages; --"],
    ["NUL and halves of characters", "a\u0000b \ud800 needle \udfff"],
    ["a megabyte", "needle ".repeat(150_000)],
    ["a megabyte of one word", "x".repeat(1_000_000)],
    ["very many words", Array.from({ length: 50_000 }, (_, n) => `w${n}`).join(" ")],
    ["punctuation", "./:@#%+~$=-\\".repeat(100)],
  ])("a query of %s is a text and nothing else", async ([what, text]) => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "where is the needle?", "in the haystack");
    await compactionThrough(ledger, "a", "f1", "t1");
    const found = await find(ledger, "a", text);
    expect(found).toEqual(text.includes("needle") ? ["t1.0"] : []);
    expect(what).not.toBe("");
    expect(await find(ledger, "a", "haystack")).toEqual(["t1.1"]);
  });

  test("tools are found by their name, what they were asked and what they answered; thoughts are not", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const turn = await openTurn(ledger, "a", "t1");
    const reply: Message = {
      role: "assistant",
      content: [
        { type: "thinking", text: "a secret thought", signature: "s" },
        {
          type: "tool_use",
          id: "u1",
          name: "read_file",
          inputJson: '{"path":"src\\/a\\"b.ts","line":12345678901234567890}',
        },
      ],
    };
    await turn.append(call("t1", 1, { reply }));
    await turn.answer([counted(answers("u1", "export const answer = 42;"))]);
    await turn.append(call("t1", 2, { sent: [answers("u1", "export const answer = 42;")] }));
    await turn.close({ status: "completed", endMs: startMs });
    await compactionThrough(ledger, "a", "f1", "t1");
    expect(await find(ledger, "a", "secret thought")).toEqual([]);
    expect(await find(ledger, "a", "read_file")).toEqual(["t1.1"]);
    expect(await find(ledger, "a", "12345678901234567890")).toEqual(["t1.1"]);
    expect(await find(ledger, "a", 'src/a"b.ts')).toEqual(["t1.1"]);
    const { hits } = await ledger.searchHistory({ sessionId: "a", text: "const 42" });
    expect(hits.map(({ role, toolName }) => [role, toolName])).toEqual([["tool", "read_file"]]);
  });

  test("what a tool result was cut from is found and read in pages", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const whole = `${"filler line\n".repeat(3000)}the needle\n${"filler line\n".repeat(3000)}`;
    const turn = await openTurn(ledger, "a", "t1");
    await turn.append(call("t1", 1, { reply: asks("u1") }));
    const cut = answers("u1", "filler line…");
    await turn.answer([{ ...counted(cut), whole }]);
    await turn.append(call("t1", 2, { sent: [cut] }));
    await turn.close({ status: "completed", endMs: startMs });
    await compactionThrough(ledger, "a", "f1", "t1");
    const { hits } = await ledger.searchHistory({ sessionId: "a", text: "needle" });
    expect(hits).toHaveLength(1);
    expect(hits[0]?.excerpt).toContain("the needle");
    expect(hits[0]?.excerpt.length).toBeLessThanOrEqual(1200);
    expect(hits[0]?.characters).toBe(whole.length);
    let text = "";
    let pages = 0;
    for (let at = { index: 2, offset: 0 }; ; pages += 1) {
      const page = await ledger.readHistory({ sessionId: "a", from: 1, through: 1, ...at });
      text += page.messages
        .filter(({ index }) => index === 2)
        .map((part) => part.text)
        .join("");
      if (page.next === null) break;
      at = page.next;
    }
    expect(text).toBe(whole);
    expect(pages).toBeGreaterThan(2);
  });

  test("only this session's thread is searched and read, not what others wrote beside it", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "shared needle", "yes");
    await ledger.forkSession({ id: "b", from: { sessionId: "a" } });
    await say(ledger, "a", "t2", "needle of a", "yes");
    await say(ledger, "b", "t3", "needle of b", "yes");
    await fail(ledger, "b", "t4");
    await openSession(ledger, "c");
    await say(ledger, "c", "t5", "needle of c", "yes");
    await compactionThrough(ledger, "a", "fa", "t2");
    await compactionThrough(ledger, "b", "fb", "t3");
    await compactionThrough(ledger, "c", "fc", "t5");
    expect((await find(ledger, "a", "needle")).toSorted()).toEqual(["t1.0", "t2.0"]);
    expect((await find(ledger, "b", "needle")).toSorted()).toEqual(["t1.0", "t3.0"]);
    expect(await find(ledger, "c", "needle")).toEqual(["t5.0"]);
    const page = await ledger.readHistory({ sessionId: "b", from: 1, through: 99 });
    expect(page.turns).toBe(2);
    expect(page.messages.map(({ turn, turnId, text }) => `${turn} ${turnId} ${text}`)).toEqual([
      "1 t1 shared needle",
      "1 t1 yes",
      "2 t3 needle of b",
      "2 t3 yes",
    ]);
    await ledger.moveSession("b", "t1");
    expect(await find(ledger, "b", "needle")).toEqual([]);
    expect((await ledger.readHistory({ sessionId: "b", from: 1, through: 99 })).turns).toBe(1);
  });

  test("a turn that compacted itself is searched as far as it is hidden, also while it runs", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "first needle", "yes");
    const turn = await ledger.openTurn(
      newTurn("a", "t2", "t1", { messages: [counted(user("second needle"))] }),
    );
    await turn.append(call("t2", 1, { sent: [user("second needle")], reply: asks("u1") }));
    await turn.answer([counted(answers("u1", "third needle"))]);
    await turn.append(call("t2", 2, { sent: [answers("u1", "third needle")], reply: asks("u2") }));
    await turn.answer([counted(answers("u2", "fourth needle"))]);
    const lock = await ledger.lockCompaction("a");
    if (lock === null) throw new Error("the lock is taken");
    const kept = { summarizedThroughTurnId: "t2", firstKeptTurnId: "t2", firstKeptIndex: 3 };
    await turn.compact(newCompaction("a", "f1", "t1", kept), lock);
    await lock.release();
    const hidden = ["t1.0", "t2.0", "t2.2"];
    expect((await find(ledger, "a", "needle")).toSorted()).toEqual(hidden);
    const { hits } = await ledger.searchHistory({ sessionId: "a", text: "third" });
    expect(hits[0]).toMatchObject({ turn: 2, index: 2, toolName: "Read" });
    expect(
      (await ledger.readHistory({ sessionId: "a", from: 2, through: 2 })).messages,
    ).toHaveLength(5);
    await turn.close({ status: "failed", endMs: startMs });
    expect(await find(ledger, "a", "needle")).toEqual(["t1.0"]);
    await run(ledger, "a", "t3");
    expect(await find(ledger, "a", "needle")).toEqual(["t1.0"]);
  });

  test("each compaction adds to what is found, and two nodes may search concurrently", async () => {
    const { ledger, reopen } = await open();
    const other = await reopen();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "needle one", "yes");
    await say(ledger, "a", "t2", "needle two", "yes");
    await compactionThrough(ledger, "a", "f1", "t1", "t2");
    expect(await find(ledger, "a", "needle")).toEqual(["t1.0"]);
    await say(ledger, "a", "t3", "needle three", "yes");
    await compactionThrough(ledger, "a", "f2", "t3");
    const both = await Promise.all([find(ledger, "a", "needle"), find(other, "a", "needle")]);
    expect(both[0]).toHaveLength(3);
    expect(both[1]).toEqual(both[0]);
  });

  test("the same lines of a file that was read twice are one result", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const file = Array.from({ length: 30 }, (_, n) => `const value${n} = needle(${n});`).join("\n");
    await say(ledger, "a", "t1", "read it", file);
    await say(ledger, "a", "t2", "read it again", file);
    await say(ledger, "a", "t3", "what did the needle do?", "nothing");
    await compactionThrough(ledger, "a", "f1", "t3");
    const found = await ledger.searchHistory({ sessionId: "a", text: "needle", limit: 2 });
    expect(found.hits.map(toPlace).toSorted()).toEqual(["t2.1", "t3.0"]);
  });

  test("what was deleted is not found, and its words are gone", async () => {
    const { ledger, database } = await open();
    await openWith(ledger, "a", "t1 t2");
    await compactionThrough(ledger, "a", "f1", "t2");
    await ledger.forkSession({ id: "b", from: { turnId: "f1" } });
    expect(await find(ledger, "b", "question")).toHaveLength(2);
    const count = async (): Promise<unknown> =>
      (await database.query("SELECT COUNT(*) AS count FROM message_terms"))[0]?.["count"];
    expect(await count()).toBe(4);
    await ledger.deleteSession("a");
    expect(await find(ledger, "b", "question")).toHaveLength(2);
    await ledger.deleteSession("b");
    expect(await count()).toBe(0);
  });

  test("an export does not hold the words, and an import finds them again", async () => {
    const { ledger, empty } = await open();
    await openSession(ledger, "a");
    await say(ledger, "a", "t1", "where is the needle?", "in the haystack");
    await compactionThrough(ledger, "a", "f1", "t1");
    const before = await lines(ledger, "a");
    expect(await find(ledger, "a", "haystack")).toEqual(["t1.1"]);
    expect(await lines(ledger, "a")).toEqual(before);
    await empty();
    await ledger.importSession(each(before), { as: "b", isTrusted: true });
    expect(await find(ledger, "b", "haystack")).toEqual(["t1.1"]);
  });

  test("a message with more words than one row can hold is found by all of them", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const long = Array.from({ length: 150_000 }, (_, n) => `word${n}x`).join(" ");
    await say(ledger, "a", "t1", "say many words", long);
    await compactionThrough(ledger, "a", "f1", "t1");
    for (const word of ["word0x", "word77777x", "word149999x"]) {
      const { hits } = await ledger.searchHistory({ sessionId: "a", text: word });
      expect(hits.map(toPlace)).toEqual(["t1.1"]);
      expect(hits[0]?.excerpt).toContain(word);
    }
  });

  test("a thread is read by its turns' numbers, compactions not counted, as much as is asked for", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await compactionThrough(ledger, "a", "f1", "t1");
    await fail(ledger, "a", "x");
    await runAll(ledger, "a", "t2 t3");
    const read = (from: number, through: number, more = {}): ReturnType<Ledger["readHistory"]> =>
      ledger.readHistory({ sessionId: "a", from, through, ...more });
    expect(
      (await read(2, 3)).messages.map(({ turn, index, text }) => `${turn}.${index} ${text}`),
    ).toEqual(["2.0 question of t2", "2.1 answer of t2", "3.0 question of t3", "3.1 answer of t3"]);
    const first = await read(1, 3, { charactersMax: 20 });
    expect(first.messages.map(({ text }) => text)).toEqual(["question of t1", "answer"]);
    expect(first.next).toEqual({ turn: 1, index: 1, offset: 6 });
    const second = await read(1, 1, { index: 1, offset: 6 });
    expect(second.messages.map(({ text, offset }) => `${offset}${text}`)).toEqual(["6 of t1"]);
    expect(second.next).toBeNull();
    expect(await read(4, 9)).toEqual({ messages: [], next: null, turns: 3 });
    expect(await read(3, 1)).toEqual({ messages: [], next: null, turns: 3 });
  });

  test("nothing is found in a session without turns, and none in one that is not there", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    expect(await ledger.searchHistory({ sessionId: "a", text: "x" })).toEqual({
      hits: [],
      messages: 0,
    });
    expect((await ledger.readHistory({ sessionId: "a", from: 1, through: 9 })).turns).toBe(0);
    await expect(ledger.searchHistory({ sessionId: "b", text: "x" })).rejects.toThrow(
      "no session b",
    );
  });
}

/** Where hits are: `t1.0` is the first message of turn t1. */
async function find(ledger: Ledger, sessionId: string, text: string): Promise<readonly string[]> {
  return (await ledger.searchHistory({ sessionId, text })).hits.map(toPlace);
}

function toPlace({ turnId, index }: HistoryHit): string {
  return `${turnId}.${index}`;
}

async function say(
  ledger: Ledger,
  sessionId: string,
  id: string,
  question: string,
  answer: string,
): Promise<void> {
  const session = await ledger.findSession(sessionId);
  const messages = [counted(user(question))];
  const turn = await ledger.openTurn(
    newTurn(sessionId, id, session?.headTurnId ?? null, { messages }),
  );
  await turn.append(call(id, 1, { sent: [user(question)], reply: assistant(answer) }));
  await turn.close({ status: "completed", endMs: startMs + 100 });
}

async function compactionThrough(
  ledger: Ledger,
  sessionId: string,
  id: string,
  through: string,
  firstKeptTurnId: string | null = null,
): Promise<void> {
  const session = await ledger.findSession(sessionId);
  const details = { summarizedThroughTurnId: through, firstKeptTurnId };
  await compactAfter(ledger, sessionId, id, session?.headTurnId ?? null, details);
}
