import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { migrations } from "../../edge/stores/sql/migrations.ts";
import { parseAge } from "./ledger-sweep.ts";
import { readStore } from "../../host/config/environment.ts";
import { addTurn, makeExample, sqlExamples, strata as run, type Ran } from "../test-kit.ts";

const current = migrations.length;

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-ledger-"));
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function strata(...text: readonly string[]): Promise<Ran> {
  return run({ STRATA_STORE: ledgerFile }, ...text);
}

describe("where the ledger is", () => {
  test("is what --store says, else STRATA_STORE, else a file in the data directory", () => {
    const env = { STRATA_STORE: "/a/b.db", STRATA_DATA_DIR: "/data" };
    expect(readStore(env, "/c.db")).toEqual({ value: "/c.db", origin: "--store" });
    expect(readStore(env)).toEqual({ value: "/a/b.db", origin: "STRATA_STORE" });
    expect(readStore({ STRATA_DATA_DIR: "/data" })).toEqual({
      value: "/data/ledger.db",
      origin: "the data directory, from STRATA_DATA_DIR",
    });
  });

  test("is what the configuration says where nothing else does", async () => {
    const config = join(folder, "own.yaml");
    writeFileSync(config, `ledger:\n  store: ${ledgerFile}\n`);
    const found = await run({ STRATA_CONFIG: config }, "sessions");
    expect(found.out).toContain("build");
    writeFileSync(config, `ledgr:\n  store: ${ledgerFile}\n`);
    const { error, status } = await run({ STRATA_CONFIG: config }, "sessions");
    expect(error).toContain("own.yaml:1:1: ledgr is not a setting");
    expect(status).toBe(5);
  });

  test.each([
    "postgrs://me:hush@host/db",
    "Postgres://me:hush@host/db",
    "mysql://me:hush@host/db",
    "host=db password=hush",
    "postgres://me:hu/sh@host/db",
    "",
    ":memory:",
  ])("is refused without repeating it where it cannot be one: %s", async (where) => {
    const { out, error, status } = await strata("sessions", "--store", where);
    expect(status).toBe(5);
    expect(out + error).not.toContain("hush");
    expect(error).toContain("--store");
    expect(error).toContain("postgres://user:password@host:5432/database");
  });

  test("cannot depend on the folder one is in when a variable says it", async () => {
    const { error, status } = await run({ STRATA_STORE: "here.db" }, "sessions");
    expect(error).toContain("the store, from STRATA_STORE, is not an absolute path");
    expect(status).toBe(5);
  });

  test.each(["check", "stats"])("ledger %s refuses a place that holds none", async (command) => {
    const nowhere = join(folder, "none", "x.db");
    const { error, status } = await strata("ledger", command, "--store", nowhere);
    expect(error).toContain(`there is no ledger in ${nowhere} yet, which is from --store`);
    expect(status).toBe(7);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  test("another program's database is refused and left as it was", async () => {
    const file = join(folder, "places.sqlite");
    const theirs = new DatabaseSync(file);
    theirs.exec("CREATE TABLE bookmarks (url TEXT)");
    theirs.close();
    const [before, mode] = [readFileSync(file), statSync(file).mode];
    for (const words of [["sessions"], ["ledger", "migrate"], ["ledger", "restore", "-"]]) {
      const { error, status } = await strata(...words, "--store", file);
      expect(error).toContain("is a SQLite database of another program, with the table bookmarks");
      expect(status).toBe(10);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(statSync(file).mode).toBe(mode);
  });
});

test("what another program has not moved into its database yet stays where it is", async () => {
  const theirs = new DatabaseSync(join(folder, "theirs.db"));
  theirs.exec("PRAGMA journal_mode = WAL");
  theirs.exec("CREATE TABLE bookmarks (url TEXT)");
  const file = join(folder, "crashed.db");
  // As if that program had been killed.
  for (const end of ["", "-wal"]) copyFileSync(join(folder, `theirs.db${end}`), `${file}${end}`);
  theirs.close();
  const before = [readFileSync(file), readFileSync(`${file}-wal`)];
  for (const words of [["sessions"], ["ledger", "migrate"], ["doctor"]]) {
    const { out, error } = await run({ STRATA_STORE: file }, ...words);
    expect(out + error).toContain("is a SQLite database of another program");
  }
  expect([readFileSync(file), readFileSync(`${file}-wal`)]).toEqual(before);
});

describe("strata ledger check", () => {
  test("is content with a ledger that is whole", async () => {
    expect(await strata("ledger", "check")).toEqual({
      status: 0,
      out: `${ledgerFile}: 15 messages checked, no problems.\n`,
      error: "",
    });
  });

  test("prints each problem and fails", async () => {
    const database = new DatabaseSync(ledgerFile);
    database.exec("UPDATE messages SET content = replace(content, 'question 2', 'question 9')");
    database.exec("UPDATE sessions SET move_count = 7 WHERE id = 'worker'");
    database.close();
    const { out, status } = await strata("ledger", "check");
    expect(out).toContain("does not match its hash\n");
    expect(out).toContain("session worker moved 7 times");
    expect(out).toContain("3 problems found.\n");
    expect(status).toBe(10);
    const { problems } = JSON.parse((await strata("ledger", "check", "--json")).out);
    expect(problems).toHaveLength(3);
  });
});

describe("strata ledger backup and restore", () => {
  test("a SQLite backup is a ledger by itself, private and without companions", async () => {
    const copy = join(folder, "copy.db");
    const { out } = await strata("ledger", "backup", copy, "--json");
    expect(JSON.parse(out)).toMatchObject({ store: ledgerFile, file: copy, format: "sqlite" });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).toSorted()).toEqual(["copy.db", "ledger.db"]);
    const original = await strata("sessions", "export", "build");
    expect(await strata("sessions", "export", "build", "--store", copy)).toEqual(original);
    expect((await strata("ledger", "check", "--store", copy)).status).toBe(0);
  });

  test("holds one moment while another writer commits", async () => {
    const ledger = await openLedger(ledgerFile);
    const session = { agent: "a", role: "unified", model: "m", provider: "p" } as const;
    await ledger.createSession({ id: "busy", ...session, foundation: "x".repeat(8_000_000) });
    const progress = { isCopied: false };
    const copies = Promise.all([
      strata("ledger", "backup", join(folder, "copy.db")),
      strata("ledger", "backup", join(folder, "copy.jsonl")),
    ]).finally(() => (progress.isCopied = true));
    let made = 0;
    for (; !progress.isCopied || made < 3; made += 1) {
      await ledger.createSession({ id: `more-${made}`, ...session });
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await copies).map(({ status }) => status)).toEqual([0, 0]);
    await ledger.close();
    expect((await strata("ledger", "check", "--store", join(folder, "copy.db"))).status).toBe(0);
    const lines = join(folder, "copy.jsonl");
    const other = join(folder, "other.db");
    expect((await strata("ledger", "restore", lines, "--store", other)).error).toBe("");
    expect((await strata("ledger", "check", "--store", other)).status).toBe(0);
  });

  test("replaces nothing without --force, and never the ledger", async () => {
    const copy = join(folder, "copy.db");
    writeFileSync(copy, "mine");
    expect((await strata("ledger", "backup", copy)).status).toBe(9);
    expect(readFileSync(copy, "utf8")).toBe("mine");
    expect((await strata("ledger", "backup", copy, "--force")).status).toBe(0);
    for (const file of [ledgerFile, join(folder, ".", "ledger.db")]) {
      const { error, status } = await strata("ledger", "backup", file, "--force");
      expect(error).toContain("is the ledger itself");
      expect(status).toBe(2);
    }
    expect((await strata("ledger", "backup", folder, "--force")).error).toContain("is a folder");
    const nowhere = await strata("ledger", "backup", join(folder, "no", "where.db"));
    expect(nowhere.error).toContain("name a file in a folder that is there");
    expect((await strata("ledger", "check")).status).toBe(0);
  });

  test("what a killed backup left goes with the next, and what another writes just now stays", async () => {
    const [left, journal, young] = ["0123abcd.part", "0123abcd.part-journal", "89abcdef.part"];
    for (const end of [left, journal, young]) writeFileSync(join(folder, `.copy.db.${end}`), "");
    writeFileSync(join(folder, ".other.db.0123abcd.part"), "");
    for (const name of readdirSync(folder).filter((each) => each !== `.copy.db.${young}`)) {
      if (name.startsWith(".")) utimesSync(join(folder, name), 0, 0);
    }
    await strata("ledger", "backup", join(folder, "copy.db"));
    expect(readdirSync(folder).toSorted()).toEqual([
      ".copy.db.89abcdef.part",
      ".other.db.0123abcd.part",
      "copy.db",
      "ledger.db",
    ]);
  });

  test("more than a million dollars come back to the last digit", async () => {
    const database = new DatabaseSync(ledgerFile);
    database.exec("UPDATE sessions SET cost_pico_usd = 9223372036854775807 WHERE id = 'build'");
    database.close();
    const [lines, other] = [join(folder, "all.jsonl"), join(folder, "other.db")];
    await strata("ledger", "backup", lines);
    expect((await strata("ledger", "restore", lines, "--store", other)).status).toBe(0);
    const { out } = await strata("sessions", "show", "build", "--json", "--store", other);
    expect(JSON.parse(out)).toMatchObject({ session: { costPicoUsd: "9223372036854775807" } });
    const text = readFileSync(lines, "utf8").replace("9223372036854775807", "9223372036854775808");
    writeFileSync(lines, text);
    const third = join(folder, "third.db");
    const refused = await strata("ledger", "restore", lines, "--store", third);
    expect(refused.error).toContain("has no fitting cost_pico_usd");
  });

  test("JSON lines give the same lines again, forks and failed turns and all", async () => {
    await strata("sessions", "fork", "build", "again", "--turn", "turn-2");
    const [lines, again] = [join(folder, "all.jsonl"), join(folder, "again.jsonl")];
    await strata("ledger", "backup", lines);
    const other = join(folder, "other.db");
    const { out } = await strata("ledger", "restore", lines, "--store", other);
    expect(out).toContain(`${other} has 3 sessions now`);
    await strata("ledger", "backup", again, "--store", other);
    expect(readFileSync(again, "utf8")).toBe(readFileSync(lines, "utf8"));
    const refused = await strata("ledger", "restore", lines, "--store", other);
    expect(refused.error).toContain("a backup can only be restored into an empty one");
    expect(refused.status).toBe(9);
  });

  test("what was restored goes on: a turn can be added, and one that was open resumed", async () => {
    const [lines, other] = [join(folder, "all.jsonl"), join(folder, "other.db")];
    await strata("ledger", "backup", lines);
    await strata("ledger", "restore", lines, "--store", other);
    const ledger = await openLedger(other);
    await (await ledger.resumeTurn("worker")).close({ status: "failed", endMs: 1 });
    await ledger.createSession({
      id: "new",
      agent: "a",
      role: "unified",
      model: "m",
      provider: "p",
    });
    await expect(addTurn(ledger, "new", 1)).rejects.toThrow("turn turn-1 is already in the ledger");
    await ledger.close();
    expect((await strata("ledger", "check", "--store", other)).status).toBe(0);
  });

  test.each<[string, (text: string) => string, string]>([
    ["cut off", (text) => text.slice(0, text.lastIndexOf('{"end"')), "the backup is incomplete"],
    ["cut within a line", (text) => text.slice(0, -5), "is not JSON"],
    [
      "with changed words",
      (text) => text.replace("question 1", "question 8"),
      "does not match its hash",
    ],
    [
      "with a line missing",
      (text) => text.replace(/\{"calls".*\n/, ""),
      "gives a count other than the",
    ],
    [
      "of another kind",
      () => '{"strata":{"format":"strata-session/1"}}',
      "does not say strata-ledger/1",
    ],
    ["of a later schema", (text) => text.replace(/"schema":\d+/, '"schema":99'), "has schema 99"],
    [
      "with a strange field",
      (text) => text.replace('{"contents":{', '{"contents":{"x":1,'),
      "unknown field x",
    ],
    ["that goes on after its end", (text) => `${text}{"x":{}}\n`, "comes after the last one"],
  ])("a backup %s is refused whole", async (_what, damage, message) => {
    const [lines, other] = [join(folder, "all.jsonl"), join(folder, "other.db")];
    await strata("ledger", "backup", lines);
    writeFileSync(lines, damage(readFileSync(lines, "utf8")));
    const { error, status } = await strata("ledger", "restore", lines, "--store", other);
    expect(error).toContain(message);
    expect(status).toBe(6);
    expect((await strata("sessions", "--all", "--json", "--store", other)).out).toBe("[]\n");
  });
});

test("a backup that an earlier schema wrote is restored", async () => {
  const [lines, other] = [join(folder, "all.jsonl"), join(folder, "other.db")];
  await strata("ledger", "backup", lines);
  const backup = readFileSync(lines, "utf8");
  const earlier = backup
    .replace(/"schema":\d+/, '"schema":1')
    .replaceAll(/,"kind":"turn","id":null(?:,"\w+":null)*\}/g, "}")
    .replaceAll(',"origin":"engine"}', "}");
  expect(earlier).not.toMatch(/"(?:kind|origin|gateway_key)"/);
  writeFileSync(lines, earlier);
  expect((await strata("ledger", "restore", lines, "--store", other)).status).toBe(0);
  const again = join(folder, "again.jsonl");
  await strata("ledger", "backup", again, "--store", other);
  expect(readFileSync(again, "utf8")).toBe(backup);
});

describe("strata ledger migrate, stats, sweep", () => {
  test("says what is to come without making anything, then makes it", async () => {
    const file = join(folder, "new", "ledger.db");
    const steps = migrations.map(({ number, name }) => `  ${number}  ${name}\n`).join("");
    expect(steps).toContain("  1  sessions, turns, messages, calls, folds, events\n");
    const dry = await strata("ledger", "migrate", "--dry-run", "--store", file);
    expect(dry.out).toBe(
      `${file} holds no ledger yet; opening it makes schema ${current}, in ${current} steps. Nothing was changed.\n${steps}`,
    );
    expect(existsSync(join(folder, "new"))).toBe(false);
    const real = await strata("ledger", "migrate", "--store", file);
    expect(real.out).toBe(`${file}: schema 0 → ${current}\n${steps}`);
    expect((await strata("ledger", "migrate", "--store", file)).out).toBe(
      `${file} has schema ${current}, which is the latest.\n`,
    );
    const { out } = await strata("ledger", "migrate", "--dry-run", "--json", "--store", file);
    expect(JSON.parse(out)).toEqual({
      store: file,
      from: current,
      to: current,
      steps: [],
      changed: false,
    });
  });

  test("refuses a ledger that a later program wrote, whatever is asked of it", async () => {
    const database = new DatabaseSync(ledgerFile);
    database.exec("INSERT INTO strata_schema VALUES (99, 'from the future', 0)");
    database.close();
    for (const words of [["sessions"], ["ledger", "migrate"], ["ledger", "migrate", "--dry-run"]]) {
      const { error, status } = await strata(...words);
      expect(error).toContain(
        `the ledger has schema 99, and this program knows schemas up to ${current}`,
      );
      expect(status).toBe(10);
    }
    const doctor = await strata("doctor", "--json");
    expect(doctor.status).toBe(8);
    expect(doctor.out).toContain("schema 99");
  });

  test("counts what there is", async () => {
    const { out } = await strata("ledger", "stats");
    expect(out).toContain(`${ledgerFile} (sqlite, schema ${current}, from STRATA_STORE)\n`);
    expect(out).toContain("calls from 2026-11-16 09:00 to 2026-11-16 09:00 UTC, $0.1000\n");
    expect(out).toMatch(/^turns +6$/m);
    expect(JSON.parse((await strata("ledger", "stats", "--json")).out)).toMatchObject({
      place: ledgerFile,
      store: "sqlite",
      costPicoUsd: "100000000000",
    });
  });

  test("sweeps old events and spares audits", async () => {
    const database = new DatabaseSync(ledgerFile);
    const insert = database.prepare(
      "INSERT INTO events VALUES (NULL, ?, ?, 'build', NULL, NULL, ?, 'system', 'private', '{}')",
    );
    const nowUs = Date.now() * 1000;
    const dayUs = 86_400_000_000;
    insert.run("1", nowUs - 100 * dayUs, "turn.started");
    insert.run("2", nowUs - 100 * dayUs, "session.archived");
    insert.run("3", nowUs - dayUs, "turn.started");
    database.close();
    const { out } = await strata("ledger", "sweep", "--older-than", "90d", "--json");
    expect(JSON.parse(out)).toMatchObject({ removed: 1, left: 2 });
    expect((await strata("ledger", "sweep", "--older-than", "90d")).out).toMatch(
      /^Removed 0 events from before .* UTC; 2 events are left\. Events kept for audits were spared\.\n$/,
    );
  });

  test("an age is a number with its unit", async () => {
    expect(["30m", "48h", "90d", "2w"].map(parseAge)).toEqual([
      1_800_000, 172_800_000, 7_776_000_000, 1_209_600_000,
    ]);
    for (const text of ["0d", "90", "d", "1y", "-1d", "1.5d"]) {
      expect((await strata("ledger", "sweep", `--older-than=${text}`)).status).toBe(2);
    }
    expect((await strata("ledger", "sweep")).error).toContain("needs --older-than AGE");
  });
});

test("the queries of docs/ledger.md run", async () => {
  const queries = sqlExamples();
  expect(queries.length).toBeGreaterThan(5);
  const database = new DatabaseSync(ledgerFile);
  const results = queries.map((sql) => database.prepare(sql).all());
  database.close();
  expect(results[0]).toMatchObject([{ model: "claude-x", calls: 7, usd: 0.07, hit_rate: 0.75 }]);
  expect(results[2]).toMatchObject([{ end_reason: "refused", turns: 1, usd: 0.01 }]);
});
