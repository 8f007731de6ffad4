// Export and import: a session as lines of JSON, the same bytes after any number of moves between ledgers.
import { expect, test } from "vitest";
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { createLedger } from "../../../src/edge/stores/ledger/create-ledger.ts";
import type { TestStore } from "../stores.ts";
import {
  all,
  answers,
  call,
  counted,
  each,
  lines,
  open as openTurn,
  openSession,
  refusal,
  run,
  startMs,
  thread,
  turnIds,
} from "../test-kit.ts";
import { newEvent } from "./new-event.ts";
import { writeRichSession } from "./rich-session.ts";

export function transferContract({ open, blank, connect }: TestStore): void {
  let known: readonly string[] | undefined;
  /** The rich session as lines, made once. The ledger is empty afterwards. */
  const takeOut = async (ledger: Ledger): Promise<readonly string[]> =>
    (known ??= await exportAndDelete(ledger));

  test("a session comes to another ledger with all it stands on, and is the same to the byte", async () => {
    const { ledger } = await open();
    await writeRichSession(ledger);
    const written = await lines(ledger, "rich");
    const other = await createLedger(await connect(await blank()));
    await other.importSession(each(written), { isTrusted: true });
    expect(await lines(other, "rich")).toEqual(written);
    expect(await all(other.check())).toEqual([]);

    const of = { sessionId: "rich" };
    expect(await other.findSession("rich")).toEqual(await ledger.findSession("rich"));
    expect(await other.pointerHistory("rich")).toEqual(await ledger.pointerHistory("rich"));
    expect(await all(other.readThread(of))).toEqual(await all(ledger.readThread(of)));
    expect(await thread(other, "rich", { whole: true })).toEqual(
      await thread(ledger, "rich", { whole: true }),
    );
    expect(await all(other.readTurns(of))).toEqual(await all(ledger.readTurns(of)));
    expect(await other.readCalls("r1")).toEqual(await ledger.readCalls("r1"));
    expect(await other.readToolCalls("r1")).toEqual(await ledger.readToolCalls("r1"));
    expect(await other.readCompactions("rich")).toEqual(await ledger.readCompactions("rich"));
    expect(await other.readState("rich")).toEqual(await ledger.readState("rich"));
    expect(await all(other.readEvents(of))).toEqual(await all(ledger.readEvents(of)));
    await other.close();
  });

  test("an imported session goes on: its open turn is resumed, new turns follow, forks are made", async () => {
    const { ledger } = await open();
    const written = await takeOut(ledger);
    await ledger.importSession(each(written), { isTrusted: true });
    const turn = await ledger.resumeTurn("rich");
    expect(turn).toMatchObject({ id: "r4", parentTurnId: "f3" });
    await turn.answer([counted(answers("u9", "ok"))]);
    await turn.append(call("r4", 2, { sent: [answers("u9", "ok")] }));
    await turn.close({ status: "completed", endMs: startMs });
    await run(ledger, "rich", "r5");
    await ledger.forkSession({ id: "fork", from: { turnId: "o4" }, like: "rich" });
    await run(ledger, "fork", "k1");
    expect(await turnIds(ledger, "rich")).toEqual([
      "o1",
      "o2",
      "f1",
      "o4",
      "r1",
      "r3",
      "f2",
      "f3",
      "r4",
      "r5",
    ]);
    expect(await turnIds(ledger, "fork")).toEqual(["o1", "o2", "f1", "o4", "k1"]);
  });

  test("a session is imported under another name", async () => {
    const { ledger } = await open();
    const written = await takeOut(ledger);
    const made = await ledger.importSession(each(written), { as: "renamed", isTrusted: true });
    expect(made).toMatchObject({ id: "renamed", openTurnId: "r4" });
    expect(await ledger.findSession("rich")).toBeNull();
    const events = await all(ledger.readEvents({ sessionId: "renamed" }));
    expect(events.map(({ type }) => type)).toContain("session.resumed");
    expect(await all(ledger.readEvents({ sessionId: "rich" }))).toEqual([]);
    expect(await ledger.readCompactions("renamed")).toHaveLength(2);
    const back = (await lines(ledger, "renamed")).map((line) =>
      line.replaceAll('"renamed"', '"rich"'),
    );
    expect(back).toEqual(written);
  });

  test("a name that no session can have is refused on import, too", async () => {
    const { ledger } = await open();
    const written = await takeOut(ledger);
    for (const name of ["", "a\u0000b", "x".repeat(300)]) {
      expect(
        await refusal(ledger.importSession(each(written), { as: name, isTrusted: true })),
      ).toMatchObject({
        code: "input-invalid",
      });
    }
  });

  test("a session that exists is not overwritten", async () => {
    const { ledger } = await open();
    await writeRichSession(ledger);
    const written = await lines(ledger, "rich");
    const before = (await ledger.stats()).rows;
    expect(await refusal(ledger.importSession(each(written), { isTrusted: true }))).toEqual({
      code: "conflict",
      message: "session rich already exists",
      hint: "import it under another name with --as NAME",
    });
    expect((await ledger.stats()).rows).toEqual(before);
  });

  test("turns or events that are here already are not taken twice", async () => {
    const { ledger } = await open();
    await writeRichSession(ledger);
    const written = await lines(ledger, "rich");
    const before = (await ledger.stats()).rows;
    expect(
      await refusal(ledger.importSession(each(written), { as: "copy", isTrusted: true })),
    ).toMatchObject({
      code: "conflict",
      hint: "fork that session instead; nothing was imported",
    });
    expect((await ledger.stats()).rows).toEqual(before);
  });

  test("an export of a session that runs is its last whole state, open to be resumed", async () => {
    const { ledger, reopen, expectDamage } = await open();
    await openSession(ledger, "a");
    await run(ledger, "a", "t1");
    await openTurn(ledger, "a", "t2");
    const written = await lines(ledger, "a");
    expect(written.filter((line) => /pending|"first:/.test(line))).toEqual([]);
    await ledger.appendEvents([newEvent("a", 1)]);
    expect(await lines(await reopen(), "a")).toHaveLength(written.length + 1);
    expectDamage();
  });

  test("what an export may hold and what it means is in its first line", async () => {
    const { ledger } = await open();
    await openSession(ledger, "a");
    const [first] = await lines(ledger, "a");
    expect(first).toBe('{"strata":{"format":"strata-session/1","session":"a"}}');
    expect(await refusal(lines(ledger, "nobody"))).toMatchObject({ code: "not-found" });
  });

  const damages: Readonly<Record<string, Damage>> = {
    "a line that is no JSON": [[4, () => "{"], "line 4 of the import is not JSON"],
    "a line that is a list": [[3, () => "[]"], "line 3 of the import is not one value by its kind"],
    "a line with two values": [
      [3, () => '{"turns":{},"calls":{}}'],
      "line 3 of the import is not one value by its kind",
    ],
    "an unknown kind": [
      [3, () => '{"passwords":{}}'],
      "line 3 of the import holds passwords, which is not part of it",
    ],
    "another format": [
      [1, (line) => line.replace("strata-session/1", "strata-session/9")],
      "line 1 of the import does not say strata-session/1",
    ],
    "no header": [
      [1, () => '{"branches":{}}'],
      "line 1 of the import does not say strata-session/1",
    ],
    "content that was changed": [
      [2, (line) => line.replace("T0", "T1")],
      "line 2 of the import holds content that does not match its hash",
    ],
    "a message that was changed": [
      ["question of o1", (line) => line.replace("question of o1", "forged question")],
      /^line \d+ of the import holds content that does not match its hash$/,
    ],
    "a field of another type": [
      ['"sessions"', (line) => line.replace(/"turn_count":\d+/, '"turn_count":"three"')],
      /^line \d+ of the import has no fitting turn_count$/,
    ],
    "a field that is missing": [
      ['"sessions"', (line) => line.replace(/"agent":"coder",/, "")],
      /^line \d+ of the import has no fitting agent$/,
    ],
    "a field too many": [
      ['"sessions"', (line) => line.replace('"agent":', '"color":"red","agent":')],
      /^line \d+ of the import has an unknown field color$/,
    ],
    "nothing where something must be": [
      ['"sessions"', (line) => line.replace('"agent":"coder"', '"agent":null')],
      /^line \d+ of the import cannot be understood: column agent holds no text$/,
    ],
    "an unknown status": [
      ['"sessions"', (line) => line.replace('"status":"active"', '"status":"asleep"')],
      /^line \d+ of the import cannot be understood: column status holds asleep$/,
    ],
    "an unknown role": [
      ['"sessions"', (line) => line.replace('"role":"unified"', '"role":"king"')],
      /^line \d+ of the import cannot be understood: column role holds king$/,
    ],
    "a plan that is no JSON": [
      ['"calls"', (line) => line.replace(/"plan_json":"(?:[^"\\]|\\.)*"/, '"plan_json":"x"')],
      /^line \d+ of the import cannot be understood: .*JSON/,
    ],
    "a turn that is missing": [['"turns":{"id":"o2"', () => ""], /incomplete/],
    "a branch that is missing": [['"branches"', () => ""], /incomplete/],
    "its end cut off": [['{"end"', () => ""], /incomplete/],
    "a branch above itself": [
      [
        '"branches":{"id":0',
        (line) =>
          line.replace(
            '"parent_branch_id":null,"fork_seq":null',
            '"parent_branch_id":0,"fork_seq":1024',
          ),
      ],
      /^line \d+ of the import is a branch that comes before its parent$/,
    ],
    "no session": [
      ['"sessions"', () => ""],
      /^line \d+ of the import gives a count other than the \d+ rows before it: it is incomplete$/,
    ],
    "two sessions": [
      ['"sessions"', (line) => `${line}\n${line}`],
      /^line \d+ of the import holds a second session$/,
    ],
  };
  test.for(Object.entries(damages))(
    "a file with %s is refused, and nothing of it is imported",
    async ([, [[where, change], message]]) => {
      const { ledger } = await open();
      const written = await takeOut(ledger);
      const at =
        typeof where === "number" ? where - 1 : written.findIndex((line) => line.includes(where));
      const broken = written
        .map((line, index) => (index === at ? change(line) : line))
        .flatMap((line) => line.split("\n"));
      expect(broken).not.toEqual(written);
      const said = await refusal(ledger.importSession(each(broken), { isTrusted: true }));
      expect(said.code).toBe("input-invalid");
      expect(said.message).toMatch(message);
      expect(said.hint).toContain("nothing was imported");
      expect(Object.values((await ledger.stats()).rows).some((count) => count > 0)).toBe(false);
    },
  );

  test("an empty file is refused", async () => {
    const { ledger } = await open();
    expect(await refusal(ledger.importSession(each([]), { isTrusted: true }))).toMatchObject({
      code: "input-invalid",
    });
  });

  test("blank lines do no harm", async () => {
    const { ledger } = await open();
    const written = await takeOut(ledger);
    await ledger.importSession(each(written.flatMap((line) => [line, "", "  "])), {
      isTrusted: true,
    });
    expect(await lines(ledger, "rich")).toEqual(written);
  });
}

/** Which line (by number or by what it holds), what becomes of it, and what the refusal says. */
type Damage = readonly [
  where: readonly [at: number | string, change: (line: string) => string],
  message: string | RegExp,
];

async function exportAndDelete(ledger: Ledger): Promise<readonly string[]> {
  await writeRichSession(ledger);
  const written = await lines(ledger, "rich");
  await ledger.deleteSession("rich");
  await ledger.deleteSession("origin");
  return written;
}
