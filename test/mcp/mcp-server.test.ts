// Goal: any MCP client can ask what its prompts cost. Method: the official client, and lines by hand, against `strata mcp`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { createClient } from "../../src/api/client/open-client.ts";
import { figureTools } from "../../src/cli/mcp/figure-tools.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { newFolder, openTestApi } from "../api/kit.ts";
import { gatewayCall, missed } from "../ledger/gateway-kit.ts";
import { hello, openClient, openRaw, useTool } from "./mcp-kit.ts";

/** An engine's session `build`, and `seen`, a conversation of Claude Code that missed once. */
async function makeLedger(): Promise<string> {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const ledger = await openLedger(store);
  const call = gatewayCall("seen", 2, { explanation: missed({}) });
  await ledger.recordCalls([gatewayCall("seen", 1), call]);
  await ledger.close();
  return store;
}

test("the official client is given figures, a miss, a window and old words", async () => {
  const client = await openClient(["--store", await makeLedger()]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "strata_cost",
    "strata_explain_last_miss",
    "strata_context",
    "history_search",
    "history_read",
  ]);
  expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual(Array(5).fill(true));
  // They are part of every prompt of a client: about 700 tokens.
  expect(JSON.stringify(tools).length).toBeLessThan(2800);

  const cost = await useTool(client, "strata_cost", { from: "2026-11-16", group_by: "session" });
  expect(cost).toContain("build: $0.100000, 7 calls");
  expect(await useTool(client, "strata_explain_last_miss")).toContain(
    "history rewritten, 2026-11-16T00:00:02.900Z, session seen\nwhere: user message 3, tier T3\nlost: 900 of 1000 tokens that could have been read, $0.00243 more than a read\nadvice: ",
  );
  const context = await useTool(client, "strata_context", { session: "5f0c" });
  expect(context).toContain("session seen, claude-code, claude-sonnet-5\nwindow: 117 tokens of ");
  expect(context).toContain("2 calls, 1 miss, 0 compactions\ncache: cold");
  expect(await useTool(client, "history_search", { query: "question", session: "build" })).toMatch(
    /turn 1, message 0, user/,
  );
  expect(await useTool(client, "history_read", { turn: 2, session: "build" })).toContain("file 2");
});

test("what cannot be answered is a tool's error that says what to do", async () => {
  const client = await openClient(["--store", await makeLedger()]);
  const input = { from: "soon", group_by: "wrong", more: 1 };
  expect(await useTool(client, "strata_cost", input)).toBe(
    'error: validation_error: the input does not fit the tool\'s schema:\n- /group_by must be one of "none", "session", "agent", "model", "day", not "wrong"\n- /more is not known',
  );
  expect(await useTool(client, "strata_cost", { from: "soon" })).toContain("write a day");
  expect(await useTool(client, "strata_context", { session: "biuld" })).toMatch(
    /error: not_found: there is no session biuld; the latest are .*build/,
  );
  expect(await useTool(client, "history_read", { turn: 1, session: "seen" })).toContain(
    "its bills are kept, its words are not",
  );
  expect(await useTool(client, "history_read", { turn: 9, session: "build" })).toContain(
    "there is no turn 9",
  );
  await expect(client.callTool({ name: "strata_costs", arguments: {} })).rejects.toThrow(
    "strata_costs not found",
  );
});

test("a ledger that does not exist yet is asked again with the next use", async () => {
  const store = join(newFolder(), "ledger.db");
  const client = await openClient(["--store", store]);
  expect(await useTool(client, "strata_cost")).toContain("there is no ledger yet");
  expect(await useTool(client, "history_search", { query: "x" })).toContain("no ledger yet");
  await makeExample(store);
  expect(await useTool(client, "strata_cost", { from: "2026-11-16" })).toContain("7 calls");
});

test("a running server is asked instead of a ledger, with its token, by the latest revision of the protocol", async () => {
  const api = await openTestApi(await makeLedger(), { token: plantedToken });
  const env = { STRATA_GATEWAY_TOKEN: plantedToken };
  const client = await openClient(["--url", api.url], { env, era: "auto" });
  expect(client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    "strata_cost",
    "strata_explain_last_miss",
    "strata_context",
  ]);
  expect(await useTool(client, "strata_cost", { from: "2026-11-16" })).toContain("9 calls");
  const [costTool] = figureTools(createClient({ url: api.url }));
  const call = { sessionId: "s", turnId: "t", toolUseId: "u", role: "unified" } as const;
  const { signal } = new AbortController();
  await expect(costTool?.run({}, { ...call, signal })).rejects.toThrow("token");
});

test("memory is read and changed where that was asked for, and a change can be undone", async () => {
  const workspace = newFolder();
  mkdirSync(join(workspace, ".strata"));
  const file = join(workspace, ".strata/MEMORY.md");
  writeFileSync(file, "Tests run with npm test.\n");
  const client = await openClient(["--memory", "--workspace", workspace]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).slice(5)).toEqual([
    "memory_read",
    "memory_add",
    "memory_replace",
    "memory_consolidate",
  ]);
  const unread = { file: "MEMORY.md", content: "npm test.\n" };
  expect(await useTool(client, "memory_consolidate", unread)).toContain("It holds now:");
  expect(await useTool(client, "memory_read", { file: "MEMORY.md" })).toBe(
    "MEMORY.md: 25 bytes; soft cap 2048, hard cap 4096\n\nTests run with npm test.\n",
  );
  await useTool(client, "memory_add", { file: "MEMORY.md", entry: "Ship on Fridays." });
  expect(readFileSync(file, "utf8")).toBe("Tests run with npm test.\nShip on Fridays.\n");
  const much = { file: "MEMORY.md", entry: "x".repeat(5000) };
  expect(await useTool(client, "memory_add", much)).toContain("hard cap");
});

test("the protocol by hand: order, unknown methods, wrong parameters, no JSON, cancelling", async () => {
  const raw = openRaw(["--store", await makeLedger()]);
  expect(await raw.ask("initialize", hello)).toMatchObject({
    result: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: false } },
      serverInfo: { name: "strata" },
    },
  });
  raw.notify("notifications/initialized");
  expect(await raw.ask("ping")).toMatchObject({ result: {} });
  expect(await raw.ask("resources/list")).toMatchObject({ error: { code: -32601 } });
  expect(await raw.ask("tools/call", { arguments: {} })).toMatchObject({ error: { code: -32602 } });
  expect(await raw.ask("tools/call", { name: "none" })).toMatchObject({ error: { code: -32602 } });
  const text = { name: "strata_cost", arguments: "all" };
  expect(await raw.ask("tools/call", text)).toMatchObject({ error: { code: -32602 } });
  raw.say("{broken");
  raw.say('{"jsonrpc":"1.0","id":{},"method":7}');
  raw.say("[]");
  raw.notify("notifications/cancelled", { requestId: 999, reason: "never asked" });
  const asked = { name: "strata_cost", arguments: { from: "2026-11-16" } };
  const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => raw.ask("tools/call", asked)));
  for (const answer of answers) {
    expect(answer).toMatchObject({ result: { content: [{ type: "text" }] } });
  }
  expect(await raw.end()).toBe(0);
});
