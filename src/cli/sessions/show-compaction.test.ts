import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CompactionRecord } from "../../core/ledger/compaction-record.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { makeSession, openSimulated, type SimulatedProvider } from "../compact/compact-test-kit.ts";
import { strata, type Ran } from "../test-kit.ts";

let folder = "";
let file = "";
let provider: SimulatedProvider;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-show-"));
  file = join(folder, "ledger.db");
  provider = await openSimulated();
});
afterEach(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

const claude = { id: "build", model: "claude-sonnet-4-6", turns: 8 };

function shown(...typed: readonly string[]): Promise<Ran> {
  return strata({ STRATA_STORE: file }, ...typed);
}

async function compactionsOf(sessionId: string): Promise<readonly CompactionRecord[]> {
  const ledger = await openLedger(file);
  const compactions = await ledger.readCompactions(sessionId);
  await ledger.close();
  return compactions;
}

describe("strata sessions show", () => {
  test("lists compactions, and shows one with its summary and its index", async () => {
    await makeSession(file, provider, claude);
    await shown("compact", "build", "--no-model", "--yes");
    const [compaction] = await compactionsOf("build");
    const listed = await shown("sessions", "show", "build");
    expect(listed.out).toMatch(/ manual {2}outline {2}- +5 +4\d\.\dk +1\d\.\dk {2}\$0\.0000\n/);
    const { out } = await shown("sessions", "show", "build", "--compaction", "latest");
    expect(out).toContain(`compaction  ${compaction?.turnId}\n`);
    expect(out).toContain("kind        outline, made without a model\n");
    expect(out).toMatch(/\nnotes\n {2}\S/);
    expect(out).toMatch(/\nindex\n {2}\S/);
    const named = await shown(
      "sessions",
      "show",
      "build",
      "--compaction",
      compaction?.turnId ?? "",
    );
    expect(named.out).toBe(out);
    const json = await shown("sessions", "show", "build", "--compaction", "latest", "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      turnId: compaction?.turnId,
      kind: "sliding_window",
      index: { tokens: expect.any(Number) },
    });
  });

  test("knows no compaction that does not exist", async () => {
    await makeSession(file, provider, { ...claude, turns: 1 });
    const none = await shown("sessions", "show", "build", "--compaction", "latest");
    expect(none.error).toContain("session build has no compaction\n");
    expect(none.status).toBe(7);
    const both = await shown("sessions", "show", "build", "--compaction", "x", "--messages");
    expect(both.status).toBe(2);
  });
});
