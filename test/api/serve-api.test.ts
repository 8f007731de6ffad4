// Goal: the program serves the API, beside a gateway and alone. Method: `strata serve` in a process of its own, asked by the typed client.
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey, plantedToken } from "../../harness/planted-key.ts";
import { createClient } from "../../src/api/client/open-client.ts";
import { makeExample, strata } from "../../src/cli/test-kit.ts";
import { openDatabase } from "../../src/edge/stores/open-ledger.ts";
import { startServe } from "../gateway/start-serve.ts";
import { newFolder } from "./kit.ts";

test("what a gateway recorded is answered beside its traffic", async () => {
  const serve = await startServe(["--sim", "--store", join(newFolder(), "ledger.db")]);
  const client = createClient({ url: serve.url });
  const response = await fetch(`${serve.url}/v1/messages`, {
    method: "POST",
    headers: {
      "x-api-key": plantedKey,
      "anthropic-version": "2023-06-01",
      "content-type": "application/json",
    },
    body: JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 20,
      messages: [{ role: "user", content: "hi" }],
    }),
  });
  expect(response.status).toBe(200);
  await expect
    .poll(async () => client.ask("cost", { query: { group_by: "model" } }))
    .toMatchObject({
      kind: "answer",
      answer: { data: [{ model: "claude-sonnet-5-5", call_count: 1 }] },
    });
  const metrics = await fetch(`${serve.url}/metrics`);
  expect(metrics.headers.get("content-type")).toContain("text/plain");
  const text = await metrics.text();
  const labels = 'agent="unknown",provider="anthropic",model="claude-sonnet-5-5"';
  expect(text).toContain(`llm_calls_total{${labels},outcome="completed"} 1`);
  expect(text).toContain(`llm_tokens_total{${labels},kind="uncached"} 9`);
  expect(text).toMatch(/\nllm_cost_usd_total\{[^}]*\} 0\.000\d+/);
  expect(text).toContain('strata_gateway_exchanges_total{outcome="complete"} 1');
  expect(text).toContain("strata_gateway_calls_lost_total 0");
  const health = await client.ask("health");
  const told = await (await fetch(`${serve.url}/strata/health`)).json();
  expect(health).toMatchObject({
    answer: {
      data: { status: "ok", ledger_readable: true, ledger: { lostCount: 0, recordedCount: 1 } },
    },
  });
  expect(health.kind === "answer" && Object.keys(health.answer.data).toSorted()).toEqual(
    [...Object.keys(told as object), "ledger_readable"].toSorted(),
  );
  expect(await serve.stop("SIGTERM")).toBe(0);
});

test("a ledger is served alone, with a token, and nothing is forwarded", async () => {
  const store = join(newFolder(), "ledger.db");
  await makeExample(store);
  const words = ["--only-api", "--store", store];
  const serve = await startServe(words, { STRATA_GATEWAY_TOKEN: plantedToken });
  const client = createClient({ url: serve.url, token: plantedToken });
  const query = { from: "2026-11-16", to: "2026-11-17", group_by: "none" } as const;
  expect(await client.ask("cost", { query })).toMatchObject({
    answer: { data: [{ call_count: 7, cost_usd: "0.100000" }] },
  });
  await expect.poll(() => storedHours(store)).toBeGreaterThan(0);
  expect(await client.ask("health")).toMatchObject({
    answer: { data: { status: "ok", version: expect.any(String), ledger_readable: true } },
  });
  expect(await createClient({ url: serve.url }).ask("cost")).toMatchObject({
    kind: "refused",
    status: 401,
    error: { code: "token_required" },
  });
  expect((await fetch(`${serve.url}/v1/messages`, { method: "POST" })).status).toBe(404);
  const env = { STRATA_GATEWAY_TOKEN: plantedToken };
  const question = [
    "stats",
    "cost",
    "--group-by",
    "session",
    "--from",
    "2026-11-16",
    "--to",
    "2026-11-17",
  ];
  const here = await strata({}, ...question, "--store", store);
  expect(await strata(env, ...question, "--url", `${serve.url}/`)).toEqual(here);
  expect(here).toMatchObject({ status: 0, error: "" });
  const refused = await strata(
    env,
    "stats",
    "cost",
    "--group-by",
    "moon",
    "--json",
    "--url",
    serve.url,
  );
  expect(refused.status).toBe(2);
  expect(JSON.parse(refused.out)).toMatchObject({ error: { code: "invalid_group_by" } });
  const stranger = await strata({}, ...question, "--url", serve.url);
  expect([stranger.status, stranger.error]).toMatchObject([
    5,
    expect.stringContaining("STRATA_GATEWAY_TOKEN"),
  ]);
  expect((await strata(env, ...question, "--url", serve.url, "--store", store)).status).toBe(2);
  expect((await strata(env, ...question, "--url", "nowhere")).status).toBe(2);
  expect(await serve.stop("SIGTERM")).toBe(0);
  expect(await client.ask("cost")).toMatchObject({ status: 0, error: { code: "unreachable" } });
});

/** By whoever keeps sums up to date: nobody asked for it. */
async function storedHours(store: string): Promise<number> {
  const database = await openDatabase(store);
  try {
    const [row] = await database.query("SELECT COUNT(*) AS hours FROM rollups WHERE grain = 1");
    return Number(row?.["hours"]);
  } finally {
    await database.close();
  }
}

test("a place without a ledger is refused, as are options about calls", async () => {
  const store = join(newFolder(), "nothing.db");
  const none = await strata({}, "serve", "--only-api", "--port", "0", "--store", store);
  expect([none.status, none.error]).toMatchObject([
    7,
    expect.stringContaining("there is no ledger"),
  ]);
  const both = await strata({}, "serve", "--only-api", "--sim");
  expect([both.status, both.error]).toMatchObject([
    2,
    expect.stringContaining("--sim is about calls"),
  ]);
});
