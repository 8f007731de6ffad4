// Goal: Claude Code shows what our ledger knows of its session. Method: what it writes to standard input, to the program.
import { join } from "node:path";
import { expect, test } from "vitest";
import { priceSwitch } from "../../src/cli/statusline/hook.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { newFolder } from "../api/kit.ts";
import { gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { runStrata } from "../run-strata.ts";

async function makeLedger(): Promise<string> {
  const store = join(newFolder(), "ledger.db");
  const ledger = await openLedger(store);
  const call = gatewayCall("seen", 2, { explanation: missed({}) });
  await ledger.recordCalls([gatewayCall("seen", 1), call]);
  await ledger.close();
  return store;
}

function ask(store: string, command: string, given: unknown): string {
  const input = typeof given === "string" ? given : JSON.stringify(given);
  const { status, out, error } = runStrata(store, [command], { input });
  expect([status, error]).toEqual([0, ""]);
  return out;
}

test("the status line has cost, share read, warmth and the last miss, beside Claude Code's own figures", async () => {
  const store = await makeLedger();
  const cache = { hit_ratio: 0.93, misses: 2, last_miss_cause: { causes: ["tools_changed"] } };
  expect(ask(store, "statusline", { session_id: "5f0c", prompt_cache: cache })).toBe(
    "Strata $0.0000 · 85.5 % read · cold · last miss: history rewritten, 900 tokens, $0.0024 | Claude Code: 93.0 % read, 2 missed (tools_changed)\n",
  );
});

test("the status line is one line for whatever it is given, and never fails", async () => {
  const store = await makeLedger();
  const unseen = "Strata saw no call of this session\n";
  expect(ask(store, "statusline", { session_id: "another" })).toBe(unseen);
  expect(ask(store, "statusline", { session_id: 5, prompt_cache: [] })).toBe(unseen);
  expect(ask(store, "statusline", "no JSON")).toBe("Strata: no session was given\n");
  expect(ask(join(newFolder(), "none.db"), "statusline", { session_id: "5f0c" })).toBe(
    "Strata: there is no ledger yet\n",
  );
});

test("a compaction that Claude Code reports stands in the trace of its conversation", async () => {
  const store = await makeLedger();
  const given = {
    session_id: "5f0c",
    hook_event_name: "PostCompact",
    trigger: "auto",
    compact_summary: "what happened so far",
  };
  expect(ask(store, "hook", given)).toBe("");
  expect(runStrata(store, ["trace", "seen", "--type", "gateway.compacted"]).out).toMatch(
    /gateway\.compacted +claude-code, auto, a summary of 20 B\n/,
  );
});

test("a switch of the model is priced before it happens, on a warm cache and on a cold one", () => {
  const given = {
    from_model: "claude-sonnet-5-5",
    to_model: "claude-opus-5-5",
    context_tokens: 120_000,
    prompt_cache_warm: true,
    cache_ttl: "5m",
  };
  const at = Date.UTC(2026, 10, 19);
  expect(priceSwitch(given, at)).toBe(
    "Strata: caches are kept per model. claude-opus-5-5 writes 120,000 tokens for $0.6000; reading them on claude-sonnet-5-5 costs $0.0120.",
  );
  expect(priceSwitch({ ...given, prompt_cache_warm: false }, at)).toContain(
    "writing them again on claude-sonnet-5-5, which is cold, costs $0.3000",
  );
  expect(priceSwitch({ ...given, to_model: "claude-sonnet-5-5" }, at)).toBeNull();
  expect(priceSwitch({ ...given, to_model: "no-such-model" }, at)).toBeNull();
  expect(priceSwitch({ ...given, context_tokens: 0 }, at)).toBeNull();
});
