// Goal: what the world does to a ledger gives one clear error that says what to do, and nothing is lost. Method: the
// program in processes of its own, with a full disk, files it may not write, damaged files, and a real server.
import type { SpawnSyncOptions } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { makeExample, sqlExamples } from "../../src/cli/test-kit.ts";
import { createLedger } from "../../src/edge/stores/ledger/create-ledger.ts";
import { openDatabase, openLedger } from "../../src/edge/stores/open-ledger.ts";
import { withClient } from "../../src/edge/stores/postgres/test-kit.ts";
import { openSqlite } from "../../src/edge/stores/sqlite/open-sqlite.ts";
import { expectOneError, runProgram, runStrata, toProgram, type Ended } from "../run-strata.ts";

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-errors-"));
  // Another user runs the program in some of these tests.
  chmodSync(folder, 0o755);
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function strata(words: readonly string[], options: SpawnSyncOptions = {}): Ended {
  return runStrata(ledgerFile, words, options);
}

/** No file may grow beyond so many bytes. The shell counts in blocks of 512. */
function strataWithFileLimit(bytes: number, words: readonly string[]): Ended {
  const script = 'ulimit -f "$1"; shift; exec "$@"';
  const blocks = String(Math.floor(bytes / 512));
  return runProgram(ledgerFile, "sh", ["-c", script, "sh", blocks, ...toProgram(words)], {});
}

async function makeLarge(where: string, id: string): Promise<void> {
  const ledger = await openLedger(where);
  await ledger.createSession({
    id,
    agent: "a",
    role: "unified",
    model: "m",
    provider: "p",
    foundation: `large ${"x".repeat(2_000_000)}`,
  });
  await ledger.close();
}

describe("a full disk", () => {
  test("an import that does not fit is refused, and what was there stays", async () => {
    const large = join(folder, "large.db");
    const lines = join(folder, "large.jsonl");
    await makeLarge(large, "large");
    strata(["sessions", "export", "large", "--out", lines, "--store", large]);
    const before = strata(["sessions", "export", "build"]).out;
    const ended = strataWithFileLimit(1_000_000, ["sessions", "import", lines]);
    expect(ended.status).toBe(10);
    expectOneError(ended, `the ledger ${ledgerFile} cannot be`, "disk");
    expect(strata(["ledger", "check"]).status).toBe(0);
    expect(strata(["sessions", "export", "build"]).out).toBe(before);
    expect(strata(["sessions", "show", "large"]).status).toBe(7);
    expect(strata(["sessions", "import", lines]).status).toBe(0);
  });

  test("a file at its limit of pages says that it is full, and takes more when there is room", async () => {
    const database = openSqlite({ file: ledgerFile });
    const ledger = await createLedger(database);
    database.connection.exec("PRAGMA max_page_count = 60");
    const session = { agent: "a", role: "unified", model: "m", provider: "p" } as const;
    const large = { id: "large", ...session, foundation: "x".repeat(500_000) };
    await expect(ledger.createSession(large)).rejects.toMatchObject({
      code: "store-unavailable",
      message: `the ledger ${ledgerFile} cannot grow: the disk or the file's limit is full`,
      hint: "free some space and try again; acknowledged data is safe, and this write was not stored",
    });
    expect(await ledger.findSession("large")).toBeNull();
    database.connection.exec("PRAGMA max_page_count = 100000");
    expect((await ledger.createSession(large)).id).toBe("large");
    await ledger.close();
    expect(strata(["ledger", "check"]).status).toBe(0);
  });

  test.each(["copy.db", "copy.jsonl"])(
    "a backup that does not fit leaves the last one in place: %s",
    async (name) => {
      const copy = join(folder, name);
      strata(["ledger", "backup", copy]);
      const before = readFileSync(copy);
      await makeLarge(ledgerFile, "large");
      const ended = strataWithFileLimit(1_000_000, ["ledger", "backup", copy, "--force"]);
      expect(ended.status).toBe(8);
      expectOneError(ended, `${copy} c`, "was removed");
      expect(readFileSync(copy).equals(before)).toBe(true);
      expect(readdirSync(folder).toSorted()).toEqual([name, "ledger.db"].toSorted());
    },
  );
});

function lock(): void {
  chmodSync(ledgerFile, 0o444);
  chmodSync(folder, 0o555);
}

function unlock(): void {
  chmodSync(folder, 0o755);
}

describe("a file that may not be written", () => {
  // Root may write everything, so it runs the program as another user.
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

  test("every command says so, and the file is as it was", () => {
    const before = readFileSync(ledgerFile);
    lock();
    const listed = strata(["sessions"], nobody);
    const imported = strata(["sessions", "import", "-"], { ...nobody, input: "" });
    unlock();
    for (const ended of [listed, imported]) {
      expect(ended.status).toBe(10);
      expectOneError(
        ended,
        `the ledger ${ledgerFile} cannot be written: the file or its folder is read-only`,
        "give this user write permission on both",
      );
    }
    expect(readFileSync(ledgerFile).equals(before)).toBe(true);
  });

  test("doctor reports it, too", () => {
    lock();
    const { out, status } = strata(["doctor"], nobody);
    unlock();
    expect(out).toMatch(/failed\s+ledger\s+.*cannot be written/);
    expect(status).toBe(8);
  });

  test("a ledger or a backup that cannot be made names the folder", () => {
    const locked = join(folder, "locked");
    mkdirSync(locked, { mode: 0o555 });
    const migrated = strata(["ledger", "migrate", "--store", join(locked, "a", "l.db")], nobody);
    expect(migrated.status).toBe(10);
    expectOneError(migrated, "cannot be created", "name a file in a folder this user may write to");
  });
});

/** What holds the large text; the tables themselves stay readable. */
async function damage(): Promise<void> {
  await makeLarge(ledgerFile, "large");
  const file = openSync(ledgerFile, "r+");
  const { size } = statSync(ledgerFile);
  for (let at = size - 4096 * 100; at < size - 4096 * 50; at += 4096) {
    writeSync(file, Buffer.alloc(512, 0xa5), 0, 512, at);
  }
  closeSync(file);
}

describe("a damaged file", () => {
  test("the check names what is wrong and fails, and a backup keeps the last good one", async () => {
    const copy = join(folder, "copy.db");
    strata(["ledger", "backup", copy]);
    const good = readFileSync(copy);
    await damage();
    const damaged = readFileSync(ledgerFile);
    const checked = strata(["ledger", "check"]);
    expect(checked.status).toBe(10);
    expect(checked.error).toBe("");
    expect(checked.out).toContain("problems found.\nKeep a copy of the ledger as it is");
    const backedUp = strata(["ledger", "backup", copy, "--force"]);
    expect(backedUp.status).toBe(10);
    expectOneError(backedUp, "is damaged, so no backup was made of it", "restore the last");
    expect(readFileSync(copy).equals(good)).toBe(true);
    expect(readFileSync(ledgerFile).equals(damaged)).toBe(true);
    expect(strata(["sessions", "export", "build"]).status).toBe(0);
    copyFileSync(copy, ledgerFile);
    expect(strata(["ledger", "check"]).status).toBe(0);
  });

  test("a first page that is gone is reported in one error", () => {
    const file = openSync(ledgerFile, "r+");
    writeSync(file, Buffer.alloc(4096 * 3, 0xa5), 0, 4096 * 3, 100);
    closeSync(file);
    const ended = strata(["sessions"]);
    expect(ended.status).toBe(10);
    expectOneError(ended, `the ledger ${ledgerFile} is`, "backup");
  });

  test("a text file is no ledger, and is left alone", () => {
    const text = join(folder, "notes.txt");
    writeFileSync(text, "these are words, not pages\n".repeat(100), { mode: 0o644 });
    const before = readFileSync(text, "utf8");
    for (const words of [["sessions"], ["ledger", "check"], ["sessions", "import", "-"]]) {
      const ended = strata([...words, "--store", text], { input: "" });
      expect(ended.status).toBe(10);
      expectOneError(ended, `the ledger ${text} is not a SQLite database`, "--store");
    }
    expect(readFileSync(text, "utf8")).toBe(before);
    expect(statSync(text).mode & 0o777).toBe(0o644);
  });

  test("a folder is no ledger", () => {
    const ended = strata(["sessions", "--store", folder]);
    expect(ended.status).toBe(10);
    expectOneError(ended, `the ledger ${folder} cannot be opened`, "--store");
  });
});

describe("a server", () => {
  let server: PostgresServer;
  let url = "";

  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase();
  });
  afterAll(() => server.stop());

  test("that holds no ledger yet gets a friendly answer, and nothing is made", () => {
    const listed = strata(["sessions", "--store", url]);
    expect(listed.status).toBe(0);
    expect(listed.out).toContain("holds no ledger yet");
    expect(strata(["ledger", "stats", "--store", url]).status).toBe(7);
    const dry = strata(["ledger", "migrate", "--dry-run", "--json", "--store", url]);
    expect(JSON.parse(dry.out)).toMatchObject({ from: 0, to: 15, changed: false });
  });

  test("takes a whole ledger from a file and gives the same lines back", async () => {
    const [lines, again] = [join(folder, "all.jsonl"), join(folder, "again.jsonl")];
    const where = await server.createDatabase();
    strata(["ledger", "backup", lines]);
    expect(strata(["ledger", "restore", lines, "--store", where]).error).toBe("");
    strata(["ledger", "backup", again, "--store", where]);
    expect(readFileSync(again, "utf8")).toBe(readFileSync(lines, "utf8"));
    expect(statSync(again).mode & 0o777).toBe(0o600);
    expect(strata(["sessions", "show", "build", "--store", where]).out).toBe(
      strata(["sessions", "show", "build"]).out,
    );
    expect(strata(["sessions", "export", "build", "--store", where]).out).toBe(
      strata(["sessions", "export", "build"]).out,
    );
    expect(strata(["ledger", "check", "--store", where]).status).toBe(0);
    const database = await openDatabase(where);
    for (const sql of sqlExamples()) await database.query(sql);
    await database.close();
    const deleted = strata(["sessions", "delete", "build", "--yes", "--store", where]);
    expect(deleted.out).toBe("Deleted build, worker: 6 turns.\n");
  });

  test("that refuses the password says so without repeating one", () => {
    const wrong = new URL(url);
    wrong.password = "not-the-word";
    const ended = strata(["sessions", "--debug"], { env: { STRATA_STORE: wrong.href } });
    expect(ended.status).toBe(5);
    expect(ended.error).toContain("refused the password");
    expect(ended.error).toContain("check user, password and database in the connection string");
    expect(ended.error).toContain("from STRATA_STORE");
    expect(ended.out + ended.error).not.toContain("not-the-word");
  });

  test("that has no such database says how to make it", () => {
    const other = new URL(url);
    other.pathname = "/nowhere";
    const ended = strata(["sessions", "--store", other.href]);
    expect(ended.status).toBe(5);
    expectOneError(ended, "does not exist", "create the database with `createdb`");
  });

  test("that is gone is reported immediately, by doctor too, and what it holds is there afterwards", async () => {
    const where = await server.createDatabase();
    await makeExample(where);
    const gone = new URL(where);
    // No server listens there.
    gone.port = "1";
    const ended = strata(["ledger", "check", "--store", gone.href]);
    expect(ended.status).toBe(10);
    expectOneError(ended, "cannot be reached", "check that the server runs");
    const doctor = strata(["doctor"], { env: { STRATA_STORE: gone.href } });
    expect(doctor.status).toBe(8);
    expect(doctor.out).toMatch(/failed\s+ledger\s+.*cannot be reached/);
    await server.restart("immediate");
    const back = strata(["ledger", "check", "--store", where]);
    expect({ status: back.status, error: back.error }).toEqual({ status: 0, error: "" });
    const every = ended.out + ended.error + doctor.out + doctor.error;
    expect(every).not.toContain(new URL(url).password);
  });

  test("that lets a user delete and not vacuum: the user learns that it is not gone yet", async () => {
    const where = await server.createDatabase();
    await makeExample(where);
    await withClient(where, async (owner) => {
      await owner.query("CREATE ROLE app LOGIN PASSWORD 'app-password'");
      await owner.query(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app",
      );
    });
    const app = new URL(where);
    app.username = "app";
    app.password = "app-password";
    const deleted = strata(["sessions", "delete", "worker", "--yes", "--store", app.href]);
    expect(deleted.status).toBe(0);
    expect(deleted.out).toMatch(
      /^Deleted worker: 1 turn\.\nNot yet erased from the disk: the tables could not be vacuumed .*GRANT MAINTAIN/,
    );
    const json = strata(["sessions", "delete", "build", "--yes", "--json", "--store", app.href]);
    expect(JSON.parse(json.out)).toMatchObject({
      notYetScrubbed: expect.stringContaining("GRANT MAINTAIN"),
    });
  });
});
