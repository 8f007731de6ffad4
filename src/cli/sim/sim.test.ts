import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { plantedKey } from "../../../harness/planted-key.ts";
import { run } from "./sim.ts";

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

interface Program {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly error: () => string;
}

/** The command alone in a process of its own, because it waits for signals. */
function start(values: Record<string, string>, switches: readonly string[]): Program {
  const code = `
    import { run } from "./src/cli/sim/sim.ts";
    process.exitCode = await run(
      { operands: [], switches: new Set(${JSON.stringify(switches)}), values: new Map(Object.entries(${JSON.stringify(values)})) },
      { out: (text) => process.stdout.write(text), error: (text) => process.stderr.write(text), env: {} },
    );`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code]);
  started.push(child);
  const [out, error]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data) => out.push(String(data)));
  child.stderr.on("data", (data) => error.push(String(data)));
  return { child, out: () => out.join(""), error: () => error.join("") };
}

async function urlOf(program: Program): Promise<string> {
  await expect.poll(program.out, { timeout: 20_000 }).toContain("\n");
  return /http:\/\/127\.0\.0\.1:\d+/.exec(program.out())?.[0] ?? "";
}

async function stop({ child }: Program, signal: NodeJS.Signals): Promise<unknown> {
  const exit = once(child, "exit");
  child.kill(signal);
  return (await exit)[0];
}

function ask(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": plantedKey, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 50,
      messages: [{ role: "user", content: "hello" }],
      ...body,
    }),
  });
}

test("for machines it prints one line with its address, and nothing more", async () => {
  const program = start({ port: "0" }, ["json"]);
  const url = await urlOf(program);
  expect((await ask(url, {})).status).toBe(200);
  expect((await fetch(`${url}/_sim/state`)).status).toBe(404);
  expect(await stop(program, "SIGTERM")).toBe(0);
  expect(program.out()).toBe(`{"url":"${url}"}\n`);
  expect(program.error()).toBe("");
});

test("its agent calls a tool it has never heard of once, beside those for files", async () => {
  const program = start({ port: "0", model: "agent" }, ["json"]);
  const url = await urlOf(program);
  const tools = [
    toolOf("read_file", { path: { type: "string" } }),
    toolOf("grep", { pattern: { type: "string" } }),
    toolOf("parcel_status", {
      parcel: { type: "string", minLength: 3 },
      days: { type: "integer" },
    }),
    toolOf("parcel_label", { parcel: { type: "string", pattern: "^PX-[0-9]+$" } }),
    toolOf("parcel_note", { message: { type: "string" } }),
  ];
  const messages: object[] = [{ role: "user", content: "Where is README.md of my parcel?" }];
  const calls: { name?: string; input?: unknown }[] = [];
  for (let ended = false; !ended;) {
    const answer = await ask(url, { tools, messages, max_tokens: 2000 });
    const { content } = (await answer.json()) as { content: (typeof calls)[number][] };
    const used = content.filter((part) => "input" in part) as { id: string; name: string }[];
    calls.push(...used);
    ended = used.length === 0;
    const results = used.map(({ id }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: "README.md\nsrc/a.ts",
    }));
    messages.push({ role: "assistant", content }, { role: "user", content: results });
  }
  expect(calls.length).toBeGreaterThan(3);
  expect(calls.filter(({ name }) => name?.startsWith("parcel"))).toMatchObject([
    { name: "parcel_status", input: { parcel: "sample parcel", days: 1 } },
  ]);
  expect(await stop(program, "SIGTERM")).toBe(0);
});

function toolOf(name: string, properties: Record<string, object>): object {
  const required = Object.keys(properties);
  return { name, input_schema: { type: "object", properties, required } };
}

test("for people it says how to use it, and shows every request when asked to", async () => {
  const program = start({ port: "0", seed: "1" }, ["verbose", "control", "virtual-clock"]);
  const url = await urlOf(program);
  expect(program.out()).toContain(`ANTHROPIC_BASE_URL=${url} `);
  expect(program.out()).toContain(`base_url = "${url}/v1"`);
  expect(program.out()).toContain(`GOOGLE_GEMINI_BASE_URL=${url} `);
  expect(program.out()).toContain(`new AnthropicBedrock({ baseURL: "${url}", apiKey: "x" })`);
  expect(program.out()).toContain(`new AnthropicVertex({ baseURL: "${url}/v1", `);
  await ask(url, {});
  await fetch(`${url}/_sim/clock`, { method: "POST", body: '{"advanceMs":1000}' });
  expect(await (await fetch(`${url}/_sim/state`)).json()).toMatchObject({
    clock: { nowMs: Date.UTC(2026, 10, 15, 12, 0, 1) },
  });
  await expect
    .poll(program.out)
    .toMatch(
      /#1 POST \/v1\/messages 200 {2}claude-sonnet-5-5 {2}read 0, written 0, fresh \d+, out \d+ {2}\$[\d.]+ {2}nothing asked for caching/,
    );
  expect(program.out()).not.toContain(plantedKey);
  expect(await stop(program, "SIGINT")).toBe(0);
  expect(program.out()).toMatch(/\ncalls +1: 1 billed, 0 refused\n/);
});

test("a call names the one whose prefix it read by its number, and the end is a sum of all", async () => {
  const program = start({ port: "0" }, ["verbose"]);
  const url = await urlOf(program);
  const system = [
    { type: "text", text: "Be brief. ".repeat(2000), cache_control: { type: "ephemeral" } },
  ];
  for (const content of ["one", "two"]) {
    const reply = await ask(url, { system, messages: [{ role: "user", content }] });
    expect(reply.status).toBe(200);
    await reply.text();
  }
  expect((await ask(url, { max_tokens: -1 })).status).toBe(400);
  expect(await stop(program, "SIGTERM")).toBe(0);
  const out = program.out();
  expect(out).toMatch(/#2 .* read what #1 wrote for 5m\n/);
  const read = /#2 .* read ([\d,]+), /.exec(out)?.[1] ?? "";
  expect(read).toMatch(/^\d,\d{3}$/);
  expect(out).toMatch(/\ncalls +3: 2 billed, 1 refused\n/);
  expect(out).toContain(`\nread        ${read} tokens, 50.0 % of what was sent\n`);
  expect(out).toMatch(/\ncost +\$0\.\d{4}, simulated\n$/);
});

test("a stop ends open streams", async () => {
  const program = start({ port: "0", latency: "60000" }, ["json"]);
  const url = await urlOf(program);
  const waiting = ask(url, { stream: true });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const [status] = await Promise.all([
    stop(program, "SIGTERM"),
    expect(waiting).rejects.toThrow("fetch failed"),
  ]);
  expect(status).toBe(0);
});

test("a script that does not match is reported on stderr", async () => {
  const program = start({ port: "0", script: "fixtures/simulator/missing.json" }, ["json"]);
  const [status] = (await once(program.child, "exit")) as [number];
  expect(status).not.toBe(0);
  expect(program.error()).toContain("the script fixtures/simulator/missing.json cannot be read");
});

describe("bad options are refused with what to do", () => {
  test.each<[Record<string, string>, string]>([
    [{ port: "x" }, "--port is x"],
    [{ port: "65536" }, "--port is 65536"],
    [{ seed: "-1" }, "--seed is -1"],
    [{ model: "gpt" }, 'there is no model "gpt"'],
    [{ model: "scripted" }, "needs a script"],
    [{ model: "echo", script: "a.json" }, "takes no script"],
    [{ port: "0", host: "0.0.0.0" }, "listens on this machine only"],
  ])("%o", async (values, message) => {
    const input = {
      operands: [],
      switches: new Set<string>(),
      values: new Map(Object.entries(values)),
    };
    const io = { out: () => {}, error: () => {}, env: {} };
    await expect(run(input, io)).rejects.toThrow(message);
  });
});
