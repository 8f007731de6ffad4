// Goal: tools of MCP servers are tools like all others, and no server changes a session's prompt. Method: real servers over both ways.
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedToken } from "../../harness/planted-key.ts";
import { makeExample } from "../../src/cli/test-kit.ts";
import { experiment } from "../../torture/mcp.ts";
import { newFolder } from "../api/kit.ts";
import { toProgram } from "../run-strata.ts";
import { listen, openMcpHost, playServer, type McpHost } from "./mcp-client-kit.ts";

function namesIn({ prompts }: McpHost): readonly (readonly string[])[] {
  return prompts.map(({ tools }) =>
    tools.map(({ name }) => name).filter((name) => name.startsWith("mcp__")),
  );
}

test("a program's tools are used like all others: our own server, over standard input and output", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const [command = "", ...args] = toProgram(["mcp", "--store", store]);
  const opened = await openMcpHost({ own: { command, args, connect_seconds: 60 } });
  const session = await opened.host.engine.open();
  opened.uses.push({
    name: "mcp__own__strata_cost",
    input: { from: "2026-11-16", group_by: "session" },
  });
  opened.uses.push({ name: "mcp__own__strata_cost", input: { from: "soon" } });
  expect(await session.run("what did it cost?").result).toMatchObject({ end: "done" });
  const [good, bad] = opened.results();
  expect(good).toContain("build: $0.100000, 7 calls");
  expect(bad).toContain("write a day");
  expect(namesIn(opened)[0]).toEqual([
    "mcp__own__history_read",
    "mcp__own__history_search",
    "mcp__own__strata_context",
    "mcp__own__strata_cost",
    "mcp__own__strata_explain_last_miss",
  ]);
  expect(opened.notices.filter((notice) => notice.includes("MCP"))).toEqual([]);
});

test("a server at an address gets its token, and what it gives back besides text is named", async () => {
  const server = await playServer(["zeta", "alpha"]);
  const opened = await openMcpHost(
    { far: { url: server.url, token_env: "FAR_TOKEN", tools: ["zeta"] } },
    { env: { FAR_TOKEN: plantedToken } },
  );
  const session = await opened.host.engine.open();
  opened.uses.push({ name: "mcp__far__zeta", input: { word: "hello" } });
  await session.run("go").result;
  expect(opened.results()).toEqual([
    "zeta says hello\n[image, image/png, 4 bytes of base64: not shown]",
  ]);
  expect(namesIn(opened)[0]).toEqual(["mcp__far__zeta"]);
  expect([...server.tokens]).toEqual([`Bearer ${plantedToken}`]);
  expect(opened.notices).toContain(
    "1 tools of the MCP server far say more than providers take (pattern): the server checks it",
  );
});

test("tools that come late wait for the next session, and those of a session stay to the byte", async () => {
  const gone = await playServer(["one"]);
  const port = Number(new URL(gone.url).port);
  await gone.close();
  const opened = await openMcpHost({ late: { url: gone.url, connect_seconds: 2 } });
  const before = await opened.host.engine.open();
  await before.run("first").result;
  expect(opened.notices.join("\n")).toContain("the MCP server late is not there");

  await playServer(["one"], port);
  await expect
    .poll(
      async () => {
        const later = await opened.host.engine.open();
        await later.run("is it there?").result;
        return namesIn(opened).at(-1);
      },
      { timeout: 30_000, interval: 500 },
    )
    .toEqual(["mcp__late__one"]);
  await before.run("second").result;
  const own = opened.prompts.filter(({ turns }) => JSON.stringify(turns).includes("first"));
  expect(own).toHaveLength(2);
  expect(own[1]?.tools).toEqual(own[0]?.tools);

  // A compaction writes the prompt anew anyway.
  for (const size of [40_000, 8000, 8000, 8000]) await before.run("third ".repeat(size)).result;
  expect(await before.compact()).toMatchObject({ kind: "compacted" });
  await before.run("sixth").result;
  expect(namesIn(opened).at(-1)).toEqual(["mcp__late__one"]);
});

test("a server that dies is a tool's error, and is there again when it comes back", async () => {
  const server = await playServer(["one"]);
  const opened = await openMcpHost({
    far: { url: server.url, connect_seconds: 2, timeout_seconds: 2 },
  });
  const session = await opened.host.engine.open();
  const use = { name: "mcp__far__one", input: { word: "a" } };
  opened.uses.push(use);
  await session.run("go").result;
  const port = Number(new URL(server.url).port);
  await server.close();
  opened.uses.push(use);
  expect(await session.run("again").result).toMatchObject({ end: "done" });
  expect(opened.results().at(-1)).toMatch(/execution_error: the MCP server far/);
  await playServer(["one"], port);
  opened.uses.push(use);
  await session.run("once more").result;
  expect(opened.results().at(-1)).toContain("one says a");
  const lists = new Set(opened.prompts.map(({ tools }) => JSON.stringify(tools)));
  expect(lists.size).toBe(1);
});

test("a use asks as every tool with its effects does, unless the server is trusted to say that it reads", async () => {
  const server = await playServer(["one"]);
  const asked: string[] = [];
  const confirm = ({ toolName }: { readonly toolName: string }): Promise<boolean> => {
    asked.push(toolName);
    return Promise.resolve(false);
  };
  const mcp = { shy: { url: server.url }, known: { url: server.url, trusted: true } };
  const opened = await openMcpHost(mcp, { confirm });
  const session = await opened.host.engine.open();
  opened.uses.push({ name: "mcp__shy__one", input: {} }, { name: "mcp__known__one", input: {} });
  await session.run("go").result;
  expect(asked).toEqual(["mcp__shy__one"]);
  const [refused, read] = opened.results();
  expect(refused).toContain("user_denied");
  expect(read).toContain("one says");

  const readOnly = await openMcpHost(mcp, {
    yaml: "tools: { toolset: read-only, permissions: [mcp.known] }\n",
  });
  const reading = await readOnly.host.engine.open();
  await reading.run("go").result;
  expect(namesIn(readOnly)[0]).toEqual(["mcp__known__one"]);
});

test("an answer without an end is broken off, and one that never comes is a timeout", async () => {
  const { url } = await listen(
    createServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => outgoing.write(" ".repeat(4 * 1024 * 1024)), 5);
      outgoing.on("close", () => clearInterval(timer));
    }),
  );
  const opened = await openMcpHost({ endless: { url, connect_seconds: 20 } });
  await opened.host.engine.open();
  expect(opened.notices.join("\n")).toMatch(
    /the MCP server endless is not there: .*(10 MB|terminated)/,
  );

  const silent = await listen(createServer(() => {}));
  const waiting = await openMcpHost({ silent: { url: silent.url, connect_seconds: 1 } });
  await waiting.host.engine.open();
  expect(waiting.notices.join("\n")).toContain("silent is not there: no answer within 1 s");
});

test("what strata.yaml says wrongly of a server is an error that says what to do", async () => {
  await expect(openMcpHost({ odd: {} })).rejects.toThrow("mcp.odd has no command and no url");
  await expect(openMcpHost({ odd: { command: "a", url: "http://127.0.0.1:9/" } })).rejects.toThrow(
    "mcp.odd has a command and a url",
  );
  const opened = await openMcpHost({ odd: { command: "a", pass_env: ["NOT_SET_HERE"] } });
  await expect(opened.host.engine.open()).rejects.toThrow(
    "the MCP server odd needs the variable NOT_SET_HERE, which is not set",
  );
  const missing = await openMcpHost({ odd: { command: "no-such-program-anywhere" } });
  await missing.host.engine.open();
  expect(missing.notices.join("\n")).toMatch(/the MCP server odd is not there: .*ENOENT/);
});

test("a hostile server breaks no session: a hundredth of the torture", async () => {
  const { checks } = await experiment.run({
    traces: undefined,
    options: { calls: "100" },
    progress: () => {},
  });
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
});
