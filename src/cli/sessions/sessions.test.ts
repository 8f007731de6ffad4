import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { makeStore } from "../../edge/stores/open-store.ts";
import { addTurn, makeExample, strata as run, words, type Ran } from "../test-kit.ts";

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-sessions-"));
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function strata(...text: readonly string[]): Promise<Ran> {
  return run({ STRATA_STORE: ledgerFile }, ...text);
}

describe("strata sessions list", () => {
  test("shows what each session cost and whether a turn of it is open", async () => {
    const { out, status } = await strata("sessions");
    expect(status).toBe(0);
    expect(out).toBe(
      [
        "session  agent  model     turns     cost  updated (UTC)     state",
        "worker   coder  claude-x      0  $0.0000  2026-11-16 09:00  turn not closed",
        "build    coder  claude-x      3  $0.1000  2026-11-16 09:00  -",
        "",
      ].join("\n"),
    );
  });

  test("gives machines the records, with money exact as text", async () => {
    const sessions = JSON.parse((await strata("sessions", "--json")).out);
    expect(sessions).toMatchObject([
      { id: "worker", openTurn: "unfinished", openTurnId: "turn-5" },
      { id: "build", openTurn: null, costPicoUsd: "100000000000", turnCount: 3 },
    ]);
  });

  test("says that there are more than it shows", async () => {
    const { out } = await strata("sessions", "--limit", "1");
    expect(out).toContain("The 1 latest; --limit 10 shows more.");
    expect(out).not.toContain("build");
  });

  test("picks by agent and status", async () => {
    expect((await strata("sessions", "--agent", "nobody")).out).toContain(
      "No session is like that",
    );
    await strata("sessions", "archive", "build");
    expect((await strata("sessions")).out).not.toContain("build");
    expect((await strata("sessions", "--all")).out).toContain("archived");
    const archived = (await strata("sessions", "list", "--status", "archived", "--json")).out;
    expect(JSON.parse(archived)).toMatchObject([{ id: "build", status: "archived" }]);
    await strata("sessions", "activate", "build");
    expect((await strata("sessions")).out).toContain("build");
  });

  test("shows that a process runs a session", async () => {
    const ledger = await openLedger(ledgerFile);
    const turn = await ledger.resumeTurn("worker");
    const { out } = await strata("sessions");
    const shown = await strata("sessions", "show", "worker");
    await turn.release();
    await ledger.close();
    expect(out).toMatch(/worker .* running/);
    expect(shown.out).toMatch(/turn turn-5 since 2026-11-16 09:00 UTC, run by \S+/);
  });

  test("says kindly that no ledger is there yet, and makes none", async () => {
    const data = join(folder, "data");
    const { out, status } = await run({ STRATA_DATA_DIR: data }, "sessions");
    expect({ out, status }).toEqual({
      out: `There are no sessions: ${data}/ledger.db (from the data directory, from STRATA_DATA_DIR) holds no ledger yet. It is made when the first one is recorded.\n`,
      status: 0,
    });
    expect((await run({ STRATA_DATA_DIR: data }, "sessions", "--json")).out).toBe("[]\n");
    expect(existsSync(data)).toBe(false);
  });

  test("shows simulated sessions where no provider has answered yet, and offers them where one has", async () => {
    const env = { STRATA_DATA_DIR: join(folder, "data") };
    const simulated = join(folder, "data", "simulated.db");
    mkdirSync(join(folder, "data"));
    await makeExample(simulated);
    const found = await run(env, "sessions");
    expect(found.error).toBe(
      `No provider has answered yet; these are simulated sessions, from ${simulated}.\n`,
    );
    expect(found.out).toMatch(/^build +coder/m);
    expect((await run(env, "sessions", "show", "build")).out).toContain("turn-3");
    expect((await run(env, "trace", "build")).status).toBe(0);

    await run(env, "ledger", "migrate");
    const real = await run(env, "sessions");
    expect(real.out).not.toContain("build");
    expect(real.error).toBe("Simulated sessions are kept apart: strata sessions --simulated\n");
    expect((await run(env, "sessions", "--simulated")).out).toBe(found.out);
    const missed = await run(env, "sessions", "show", "build");
    expect(missed.error).toContain("or for a simulated one --simulated");
    expect(await run(env, "sessions", "--simulated", "--store", simulated)).toMatchObject({
      status: 2,
      error: expect.stringContaining("--simulated and --store name two ledgers"),
    });
  });

  test("lists generated ids short, and takes them so", async () => {
    const file = join(folder, "short.db");
    const ledger = await openLedger(file);
    const id = "c78c6c0b-8c74-4414-959c-e498cfa6f220";
    await ledger.createSession({ id, agent: "a", role: "unified", model: "m", provider: "p" });
    await ledger.close();
    const listed = await run({}, "sessions", "--store", file);
    expect(listed.out).toMatch(/^c78c6c0b +a +m /m);
    const shown = await run({}, "sessions", "show", "c78c", "--store", file);
    expect(shown.out).toContain(id);
    const archived = await run({}, "sessions", "archive", "c78c6c0b", "--store", file);
    expect(archived).toMatchObject({ status: 0, error: "" });
    expect((await run({}, "sessions", "--json", "--store", file)).out).toBe("[]\n");
  });

  test.each([
    [["--status", "archivd"], "did you mean archived?"],
    [["--status", "all", "--all"], "give one of them"],
    [["--limit", "0"], "give a whole number from 1"],
  ])("refuses %j with what to do", async (options, hint) => {
    const { error, status } = await strata("sessions", "list", ...options);
    expect(error).toContain(hint);
    expect(status).toBe(2);
  });
});

describe("strata sessions show", () => {
  test("shows turns with status, calls, hit rate and cost, and the compaction between them", async () => {
    const { out } = await strata("sessions", "show", "build");
    expect(out).toContain("points at   compaction-1\n");
    expect(out).toContain("workers     worker\n");
    const started = "2026-11-16 09:00";
    expect(out).toContain(
      [
        "turn          status           started (UTC)     calls  tools  prompt  hit rate  made     cost",
        `turn-1        completed        ${started}      2      1    2.0k    75.0 %    80  $0.0200`,
        `turn-2        completed        ${started}      2      1    2.0k    75.0 %    80  $0.0200`,
        `turn-3        completed        ${started}      2      1    2.0k    75.0 %    80  $0.0200`,
        "compaction-1  compaction       2026-11-16 08:59      0      0       0         -     0  $0.0300",
        `turn-4        failed: refused  ${started}      1      0    1.0k    75.0 %    40  $0.0100`,
        "",
        "compaction    when (UTC)        why     kind     by        turns  before  after     cost",
        `compaction-1  ${started}  manual  summary  claude-x      2    4.0k   1.5k  $0.0300`,
      ].join("\n"),
    );
  });

  test("says what is open, that no process runs it, and how to give it up", async () => {
    const { out } = await strata("sessions", "show", "worker");
    expect(out).toContain("started by  build, in turn turn-3");
    expect(out).toContain("task        look around");
    expect(out).toContain("no process runs it");
    expect(out).toContain("strata sessions abandon worker");
  });

  test("looking does not take a turn away from a writer that is late", async () => {
    const ledger = await openLedger(ledgerFile, { now: () => 1000 });
    const turn = await ledger.openTurn({
      id: "late",
      sessionId: "build",
      parentTurnId: "compaction-1",
      model: "claude-x",
      provider: "garage",
      role: "unified",
      startMs: 1000,
      messages: [words("user", "slow")],
    });
    expect((await strata("sessions", "show", "build")).out).toContain("no process runs it");
    expect((await strata("sessions")).out).toMatch(/build .* turn not closed/);
    await turn.close({ status: "completed", endMs: 2000 });
    expect((await ledger.findSession("build"))?.headTurnId).toBe("late");
    await ledger.close();
  });

  test("prints what is sent now, and with --whole what the compaction hides", async () => {
    const { out } = await strata("sessions", "show", "build", "--messages");
    expect(out).toBe(
      [
        "── compaction-1 ──",
        "user",
        "  what happened so far",
        "── turn-3 ──",
        "user",
        "  question 3",
        "assistant",
        '  [uses Read {"path":"a.ts"}]',
        "tool",
        "  [answers file 3]",
        "assistant",
        "  answer 3",
        "",
      ].join("\n"),
    );
    const whole = await strata("sessions", "show", "build", "--messages", "--whole");
    expect(whole.out).toContain("question 1");
    expect(whole.out).not.toContain("what happened so far");
    const { messages } = JSON.parse(
      (await strata("sessions", "show", "build", "--messages", "--json")).out,
    );
    expect(messages).toHaveLength(5);
    expect((await strata("sessions", "show", "build", "--whole")).status).toBe(2);
  });

  test("what a model said cannot steer the terminal", async () => {
    const ledger = await openLedger(ledgerFile);
    const session = { agent: "a", role: "unified", model: "m", provider: "p" } as const;
    await ledger.createSession({ id: "wild", ...session });
    const turn = await ledger.openTurn({
      id: "wild-1",
      sessionId: "wild",
      parentTurnId: null,
      ...session,
      startMs: 0,
      messages: [words("user", "\u001b]0;owned\u0007 two\nlines \u202edesrever")],
    });
    await turn.close({ status: "completed", endMs: 1 });
    await ledger.close();
    const { out } = await strata("sessions", "show", "wild", "--messages");
    expect(out).toBe("── wild-1 ──\nuser\n  ␛]0;owned␇ two\n  lines \\u202edesrever\n");
  });

  test("knows names that are nearly the same, and says where it looked", async () => {
    const { error, status } = await strata("sessions", "show", "biuld");
    expect(error).toBe(
      `strata: there is no session biuld in ${ledgerFile}\n  did you mean build? (the ledger was chosen by STRATA_STORE)\n`,
    );
    expect(status).toBe(7);
  });
});

describe("strata sessions fork, abandon, delete", () => {
  test("a fork goes on from the turn one names, or from the last", async () => {
    const { out } = await strata("sessions", "fork", "build", "again", "--turn", "turn-2");
    expect(out).toBe("again goes on from turn turn-2 of build.\n");
    expect((await strata("sessions", "show", "again", "--messages")).out).toContain("answer 2");
    const last = await strata("sessions", "fork", "build", "latest", "--json");
    expect(JSON.parse(last.out)).toMatchObject({ id: "latest", headTurnId: "compaction-1" });
    const taken = await strata("sessions", "fork", "build", "latest");
    expect(taken.status).toBe(9);
    const failed = await strata("sessions", "fork", "build", "other", "--turn", "turn-4");
    expect(failed.error).toContain("use the turn before it, compaction-1");
  });

  test("a turn that was left open is given up once", async () => {
    expect((await strata("sessions", "abandon", "worker")).out).toBe(
      "Turn turn-5 of worker is abandoned; its calls stay in the bill.\n",
    );
    expect((await strata("sessions", "abandon", "worker")).status).toBe(9);
    expect((await strata("sessions", "show", "worker")).out).toContain("failed: abandoned");
  });

  test("deleting asks, and without a terminal it refuses and changes nothing", async () => {
    const { error, status } = await strata("sessions", "delete", "build");
    expect(error).toBe(
      "strata: Delete for good: session build, 3 turns, 1 session of sub-agents? There is no terminal to ask on\n  add --yes; nothing was changed\n",
    );
    expect(status).toBe(2);
    expect((await strata("sessions", "show", "build")).status).toBe(0);
  });

  test("deletes a session with its worker, spares what a fork stands on, then that, too", async () => {
    await strata("sessions", "fork", "build", "again", "--turn", "turn-2");
    const { out } = await strata("sessions", "delete", "build", "--yes");
    expect(out).toBe(
      "Deleted build, worker: 4 turns. 2 turns of it stay, because other sessions use them.\n",
    );
    expect((await strata("ledger", "check")).status).toBe(0);
    await strata("sessions", "delete", "again", "--yes");
    expect(JSON.parse((await strata("ledger", "stats", "--json")).out).rows).toMatchObject({
      sessions: 0,
      turns: 0,
      messages: 0,
      calls: 0,
      contents: 0,
    });
  });

  test("with its forks, all of it goes", async () => {
    await strata("sessions", "fork", "build", "again", "--turn", "turn-2");
    const { out } = await strata("sessions", "delete", "build", "--with-forks", "--yes", "--json");
    const { sessions, turnsKept } = JSON.parse(out);
    expect({ sessions: sessions.toSorted(), turnsKept }).toEqual({
      sessions: ["again", "build", "worker"],
      turnsKept: 0,
    });
  });
});

describe("strata sessions export and import", () => {
  test("writes a private file, and over another one only with --force", async () => {
    const file = join(folder, "build.jsonl");
    const { out } = await strata("sessions", "export", "build", "--out", file);
    expect(out).toMatch(/holds session build in \d+ lines\.\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const before = readFileSync(file, "utf8");
    const refused = await strata("sessions", "export", "worker", "--out", file);
    expect(refused.error).toContain("replace it with --force");
    expect(refused.status).toBe(9);
    expect(readFileSync(file, "utf8")).toBe(before);
    await strata("sessions", "export", "worker", "--out", file, "--force");
    expect(readFileSync(file, "utf8")).toContain('"session":"worker"');
    const itself = await strata("sessions", "export", "build", "--out", ledgerFile, "--force");
    expect(itself.error).toContain("is the ledger itself");
    expect((await strata("ledger", "check")).status).toBe(0);
  });

  test("takes in what it wrote, in another ledger and under another name, byte for byte", async () => {
    const file = join(folder, "build.jsonl");
    const other = join(folder, "deep", "er", "other.db");
    await strata("sessions", "export", "build", "--out", file);
    expect((await strata("sessions", "export", "build")).out).toBe(readFileSync(file, "utf8"));
    await strata("sessions", "import", file, "--trust", "--store", other);
    expect(statSync(other).mode & 0o777).toBe(0o600);
    const copied = await strata("sessions", "export", "build", "--store", other);
    expect(copied.out).toBe(readFileSync(file, "utf8"));
    expect((await strata("sessions", "import", file)).error).toContain("--as NAME");
    const third = join(folder, "third.db");
    const named = await strata(
      "sessions",
      "import",
      file,
      "--as",
      "copy",
      "--trust",
      "--store",
      third,
    );
    expect(named.out).toBe(`${third} has session copy now, with 3 turns made in it.\n`);
  });

  test("keeps text with every line separator Unicode has", async () => {
    const ledger = await openLedger(ledgerFile);
    const session = { agent: "a", role: "unified", model: "m", provider: "p" } as const;
    await ledger.createSession({ id: "odd", ...session, foundation: "a\u2028b\u2029c\u0085d\re" });
    await ledger.close();
    const file = join(folder, "odd.jsonl");
    await strata("sessions", "export", "odd", "--out", file);
    const other = join(folder, "other.db");
    expect((await strata("sessions", "import", file, "--trust", "--store", other)).status).toBe(0);
    const copied = await strata("sessions", "export", "odd", "--store", other);
    expect(copied.out).toBe(readFileSync(file, "utf8"));
  });

  test("says which line of a file is broken, and takes in nothing", async () => {
    const file = join(folder, "build.jsonl");
    const { out } = await strata("sessions", "export", "worker");
    writeFileSync(file, out.replace('"go"', '"gone"').replaceAll("go", "no"));
    const { error, status } = await strata("sessions", "import", file, "--as", "x");
    expect(error).toMatch(/line \d+ of the import/);
    expect(status).toBe(6);
    expect((await strata("sessions", "show", "x")).status).toBe(7);
    const missing = await strata("sessions", "import", join(folder, "nowhere"));
    expect(missing.error).toContain("nowhere cannot be read");
    expect(missing.status).toBe(6);
  });
});

test("an export is of one moment, also while a turn is being written", async () => {
  const { ledger } = await makeStore(ledgerFile);
  const writer = await openLedger(ledgerFile);
  await writer.createSession({
    id: "busy",
    agent: "a",
    role: "unified",
    model: "m",
    provider: "p",
  });
  const lines: string[] = [];
  for await (const line of ledger.exportSession("busy")) {
    if (lines.push(line) === 1) await addTurn(writer, "busy", 1, "busy-");
  }
  await Promise.all([ledger.close(), writer.close()]);
  const file = join(folder, "busy.jsonl");
  writeFileSync(file, lines.join("\n"));
  const { out, error } = await strata("sessions", "import", file, "--as", "copy", "--trust");
  expect({ out, error }).toEqual({
    out: `${ledgerFile} has session copy now, with 0 turns made in it.\n`,
    error: "",
  });
});
