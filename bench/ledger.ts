// The ledger's overhead over its own SQL, the cost of durability, and how times grow with size.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSampleTurn, createShortTurn } from "../harness/ledger-turns.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import {
  atLeast,
  atMost,
  exactly,
  UsageError,
  type Check,
  type Experiment,
  type Figure,
  type Settings,
} from "../harness/report.ts";
import { comparePostgres, compareSqlite } from "./ledger/append.ts";
import { measureForks, measureLongBranch } from "./ledger/deep-tree.ts";
import { compareWithFile } from "./ledger/durable.ts";
import { measureGrowth } from "./ledger/growth.ts";
import { compareReading, compareReadingPostgres } from "./ledger/read.ts";

export const experiment: Experiment = {
  summary:
    "the ledger against its own SQL, against a bare file, and as it grows to a million turns (3 GB in the temporary folder)",
  options: { part: `only one of ${["append", "read", "durable", "growth", "tree"].join(", ")}` },
  cpuRatioMax: 1.15,
  async run(settings) {
    const found: Found = { figures: {}, checks: [] };
    const server = await startPostgres({ isWatched: false });
    try {
      for (const [name, part] of chosen(settings)) {
        settings.progress(name);
        await inFolder((folder) => part(found, { folder, server, progress: settings.progress }));
      }
    } finally {
      await server.stop();
    }
    return found;
  },
};

/** Removes the files of a part before the next one starts. */
async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "strata-bench-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Found {
  readonly figures: Record<string, Figure>;
  readonly checks: Check[];
}

interface World {
  readonly folder: string;
  readonly server: PostgresServer;
  readonly progress: (line: string) => void;
}

type Part = (found: Found, world: World) => Promise<void>;

const parts: Readonly<Record<string, Part>> = { append, read, durable, growth, tree };

function chosen({ options }: Settings): readonly (readonly [string, Part])[] {
  const { part: name } = options;
  if (name === undefined) return Object.entries(parts);
  const part = parts[name];
  if (part === undefined) throw new UsageError(`--part is one of ${Object.keys(parts).join(", ")}`);
  return [[name, part]];
}

async function append({ figures, checks }: Found, { folder, server }: World): Promise<void> {
  // Without waiting for the disk, the ledger's own time shows. First, because V8 takes more than a thousand turns to
  // compile what a ledger uses, and a ledger is open for longer than that.
  const unsynced = await compareSqlite(folder, { rounds: 48, synchronous: "NORMAL" });
  const sqlite = await compareSqlite(folder, { rounds: 24 });
  const postgres = await comparePostgres(server, { rounds: 24 });
  Object.assign(figures, {
    "append sqlite turns/s": 1000 / sqlite.ledgerMs,
    "append sqlite bare turns/s": 1000 / sqlite.bareMs,
    "append sqlite, no wait for the disk": unsynced.share,
    "append sqlite, no wait for the disk, turns/s": 1000 / unsynced.ledgerMs,
    "append postgres turns/s": 1000 / postgres.ledgerMs,
    "append postgres bare turns/s": 1000 / postgres.bareMs,
  });
  checks.push(
    atLeast("append sqlite", sqlite.share, 0.88),
    atLeast("append postgres", postgres.share, 0.88),
    exactly("append postgres: commits of several statements", postgres.divided, 0),
  );
}

async function read({ figures, checks }: Found, { folder, server }: World): Promise<void> {
  const sqlite = await compareReading(folder);
  const postgres = await compareReadingPostgres(server);
  Object.assign(figures, {
    "read thread ms": sqlite.ledgerMs,
    "read thread bare ms": sqlite.bareMs,
    "read thread postgres": postgres.share,
    "read thread postgres ms": postgres.ledgerMs,
  });
  checks.push(atLeast("read thread", sqlite.share, 0.7));
}

async function durable({ figures, checks }: Found, { folder }: World): Promise<void> {
  const { ledgerMs, bareMs, share } = await compareWithFile(folder);
  figures["durable append ms"] = ledgerMs;
  figures["raw append+fdatasync ms"] = bareMs;
  checks.push(atLeast("durable append / raw append+fdatasync", share, 0.45));
}

async function growth({ figures, checks }: Found, { folder, progress }: World): Promise<void> {
  const large = await measureGrowth(folder, {
    smallTurns: 10_000,
    largeTurns: 100_000,
    createSample: (random) => createSampleTurn(random, 8192),
    progress,
  });
  const huge = await measureGrowth(folder, {
    smallTurns: 10_000,
    largeTurns: 1_000_000,
    createSample: (random) => createShortTurn(random, 200),
    progress,
  });
  Object.assign(figures, {
    "turn ms at 10⁴": large.smallAppendMs,
    "turn ms at 10⁵": large.largeAppendMs,
    "MB at 10⁵": large.largeMb,
    "short turn ms at 10⁴": huge.smallAppendMs,
    "short turn ms at 10⁶": huge.largeAppendMs,
    "MB at 10⁶": huge.largeMb,
  });
  checks.push(
    atMost("growth 10⁴→10⁵", large.append, 1.3),
    atMost("growth 10⁴→10⁵: finding the last turn", large.open, 1.3),
    atMost("growth to 10⁶", huge.append, 1.5),
    atMost("growth to 10⁶: finding the last turn", huge.open, 1.5),
  );
}

/** Linear: ten times the turns may take at most 13 times as long, an exponent of 1.11. */
async function tree({ figures, checks }: Found, { folder, progress }: World): Promise<void> {
  const branch = await measureLongBranch(folder);
  progress("10,000 forks");
  const forks = await measureForks(folder);
  Object.assign(figures, {
    "deep tree, one branch, ms": branch.deepMs,
    "deep tree, a chain of forks, ms": forks.deepMs,
  });
  checks.push(
    atMost("deep tree, one branch: 10,000 turns over 1,000", branch.times, 13),
    atMost("deep tree, a chain of forks: 10,000 over 1,000", forks.times, 13),
  );
}
