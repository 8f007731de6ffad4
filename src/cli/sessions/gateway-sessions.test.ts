// Conversations that the gateway saw, in the commands for sessions: shown where asked for, never run.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gatewayCall, missed } from "../../../test/ledger/gateway-kit.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { makeExample, strata as run, type Ran } from "../test-kit.ts";

let folder = "";
let ledgerFile = "";

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-seen-"));
  ledgerFile = join(folder, "ledger.db");
  await makeExample(ledgerFile);
  const ledger = await openLedger(ledgerFile);
  await ledger.recordCalls([
    gatewayCall("seen", 1, { costPicoUsd: 20_000_000_000n }),
    gatewayCall("seen", 2, { explanation: missed({}), costPicoUsd: null }),
    gatewayCall("helper", 1, {}, { kind: "sub-agent", parentId: "seen" }),
  ]);
  await ledger.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function strata(...text: readonly string[]): Promise<Ran> {
  return run({ STRATA_STORE: ledgerFile }, ...text);
}

test("they are listed only where they are asked for", async () => {
  expect((await strata("sessions")).out).not.toContain("seen");
  const { out } = await strata("sessions", "--gateway");
  expect(out).toContain("seen     claude-code  claude-sonnet-5");
  expect(out).not.toContain("build");
});

test("one is shown call by call, with what it missed", async () => {
  const { out, status } = await strata("sessions", "show", "seen");
  expect(status).toBe(0);
  expect(out).toBe(
    [
      "conversation     seen, seen by the gateway",
      "program          claude-code, conversation",
      "its name for it  5f0c",
      "model            claude-sonnet-5 of anthropic",
      "cost             ≥ $0.0200, 1 call without a price for 2 calls",
      "time             2026-11-16 00:00 to 2026-11-16 00:00 UTC",
      "sub-agents       helper",
      "",
      "call  started (UTC)     status    read  written  uncached  made  hit rate     cost  missed",
      "   1  2026-11-16 00:00  complete   100        7        10    20    85.5 %  $0.0200  -",
      "   2  2026-11-16 00:00  complete   100        7        10    20    85.5 %        -  900: history rewritten at user message 3",
      "",
    ].join("\n"),
  );
  const shown: unknown = JSON.parse((await strata("sessions", "show", "seen", "--json")).out);
  expect(shown).toMatchObject({
    session: { id: "seen", origin: "gateway" },
    calls: [{ id: "seen-1", costPicoUsd: "20000000000" }, { id: "seen-2" }],
  });
});

test("its events are traced, its misses and costs are in the statistics", async () => {
  const trace = (await strata("trace", "seen")).out;
  expect(trace).toContain("gateway.call");
  expect(trace).toContain("lost 900: history rewritten, in user message 3, byte 12");
  const window = ["--from", "2026-11-15", "--to", "2026-11-17"];
  const { out } = await strata("stats", "cost", "--group-by", "agent", ...window);
  expect(out).toContain("claude-code");
  expect((await strata("stats", "misses", ...window)).out).toContain("history rewritten");
});

test("it cannot be forked, and a delete takes its sub-agents with it", async () => {
  const { status, error } = await strata("sessions", "fork", "seen", "mine");
  expect(status).toBe(9);
  expect(error).toContain("session seen is a conversation of claude-code that the gateway saw");
  expect((await strata("sessions", "delete", "seen", "--yes")).out).toContain(
    "Deleted seen, helper",
  );
});

test("replay says that it has no content", async () => {
  const { out, error } = await strata("replay", "--store", ledgerFile);
  expect(`${out}${error}`).toContain("a conversation that the gateway saw");
});
