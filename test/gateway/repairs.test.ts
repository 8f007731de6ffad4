// Goal: named repairs make a program's calls begin alike, change nothing else, and are the same on every node. Method: programs
// that shuffle their tools, write the time into their system text or name their version, against the simulator.
import { expect, test, vi } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { describeObserved } from "../../src/gateway/observe/describe-observed.ts";
import { formatUsd } from "../../src/core/models/pico-usd.ts";
import { claude, manual } from "../simulator-clients/serve.ts";
import { openCapture, serveOptimized, stopClock, type OptimizedServe } from "./optimize-kit.ts";

type Fields = Record<string, unknown>;

const model = "claude-sonnet-4-5";
const marker = { cache_control: { type: "ephemeral" } };
const startMs = Date.UTC(2026, 10, 16, 9);
const about = "Does what its name says, in the folder of the project. ".repeat(20);

/** Another order of tools and of their schemas' keys for each number, as from a language whose maps have none. */
function shuffledTools(number: number, markers: Fields): Fields[] {
  const schemas = [
    { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    { required: ["path"], properties: { path: { type: "string" } }, type: "object" },
  ];
  const tools = ["Read", "Bash", "Edit"].map((name) => ({
    name,
    description: `${name}. ${about}`,
    input_schema: schemas[number % 2],
  }));
  const turned = [...tools.slice(number % 3), ...tools.slice(0, number % 3)];
  return turned.map((tool, at) => (at === 2 ? { ...tool, ...markers } : tool));
}

function messages(call: number): Fields[] {
  const said = Array.from({ length: 2 * call + 1 }, (_, at): Fields =>
    at % 2 === 0
      ? { role: "user", content: `Step ${at / 2}. ${"The build fails. ".repeat(40)}` }
      : { role: "assistant", content: `I look. ${"Then I see. ".repeat(10)}` },
  );
  const last = said.at(-1);
  return [
    ...said.slice(0, -1),
    { role: "user", content: [{ type: "text", text: last?.["content"], ...marker }] },
  ];
}

/** A program's call of this number. */
type Program = (call: number) => Fields;

const shuffling: Program = (call) => ({
  model,
  max_tokens: 100,
  tools: shuffledTools(call, marker),
  system: [{ type: "text", text: manual, ...marker }],
  messages: messages(call),
});

const dated: Program = (call) => ({
  model,
  max_tokens: 100,
  tools: shuffledTools(0, {}),
  system: [
    {
      type: "text",
      text: `You code.\nCurrent time: 2026-11-16 09:0${call} – "UTC"\n${manual}`,
      ...marker,
    },
  ],
  messages: messages(call),
});

const versioned: Program = (call) => ({
  model,
  max_tokens: 100,
  tools: shuffledTools(0, {}),
  system: [
    { type: "text", text: `x-anthropic-billing-header: cc_version=2.1.325.${call};` },
    { type: "text", text: manual, ...marker },
  ],
  messages: messages(call),
});

interface RunSetting {
  readonly repairs: string;
  /** A server that takes no vendor's text out of a prompt, in place of the vendor. */
  readonly isHouse?: boolean;
  readonly bodies?: Buffer[];
  readonly calls?: readonly number[];
}

async function run(
  program: Program,
  { repairs, isHouse = false, bodies, calls = [0, 1, 2, 3] }: RunSetting,
): Promise<OptimizedServe> {
  stopClock();
  const captured = await openCapture(bodies ?? []);
  const [house] = [...captured.values()];
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: `gateway: { optimize: { holdout: 0, wait_ms: 5000, repairs: [${repairs}], upstreams: [anthropic, house] } }`,
    upstreams: new Map([...captured, ...(house === undefined ? [] : [["house", house] as const])]),
  });
  for (const [at, call] of calls.entries()) {
    vi.setSystemTime(startMs + call * 20_000);
    await ask(`${served.url}${isHouse ? "/house" : ""}`, program(call));
    await served.until(at + 1);
  }
  return served;
}

async function ask(url: string, body: Fields): Promise<void> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": plantedKey,
    },
    body: JSON.stringify(body),
  });
  expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
}

function usd(
  { calls }: OptimizedServe,
  of: "costPicoUsd" | "clientCostPicoUsd" = "costPicoUsd",
): string {
  return formatUsd(calls.reduce((sum, call) => sum + (call[of] ?? 0n), 0n));
}

test.each([
  [
    "shuffled tools",
    shuffling,
    "sort_tools, canonical_schemas",
    false,
    "$0.0743235",
    "$0.02681925",
  ],
  ["the time in the system text", dated, "volatile_to_tail", false, "$0.0746385", "$0.02704065"],
  ["a version in the system text", versioned, "drop_attribution", true, "$0.0746085", "$0.0267774"],
] as const)(
  "%s: the prompt is written once instead of four times",
  async (_what, program, repairs, isHouse, before, after) => {
    const without = await run(program, { repairs: "", isHouse });
    const repaired = await run(program, { repairs, isHouse });
    expect({ before: usd(without), after: usd(repaired) }).toEqual({ before, after });
    const reads = repaired.calls.map(({ usage }) => usage?.cacheReadTokens ?? 0);
    expect(reads[0]).toBe(0);
    for (const read of reads.slice(1)) expect(read).toBeGreaterThan(4000);
    // The account beside says what the client's own request would have cost.
    const told = Number(usd(repaired, "clientCostPicoUsd").slice(1)) / Number(before.slice(1));
    expect(Math.abs(told - 1)).toBeLessThan(0.002);
    for (const call of repaired.calls) {
      expect(call.repairs).toEqual(repairs.split(", "));
      expect(describeObserved(call)).toContain(`repaired: ${repairs}`);
    }
  },
);

/** Without markers. */
function bare(body: Buffer | undefined): Fields {
  const text = (body ?? Buffer.from("{}")).toString();
  return JSON.parse(text.replace(/,"cache_control":\{[^{}]*\}/g, "")) as Fields;
}

const all = "sort_tools, canonical_schemas, volatile_to_tail, drop_attribution";

test("what is repaired means the same, and every other byte is the client's", async () => {
  const bodies: Buffer[] = [];
  await run(shuffling, { repairs: all, bodies, calls: [1] });
  const schema = '{"properties":{"path":{"type":"string"}},"required":["path"],"type":"object"}';
  const sent = bodies[0]?.toString() ?? "";
  const asked = JSON.stringify(shuffling(1));
  expect(sent.match(/"name":"\w+"/g)).toEqual(['"name":"Bash"', '"name":"Edit"', '"name":"Read"']);
  expect(sent.split(`"input_schema":${schema}`)).toHaveLength(4);
  const after = '"system":';
  expect(bare(bodies[0])["messages"]).toEqual(bare(Buffer.from(asked))["messages"]);
  expect(sent.slice(0, sent.indexOf('"tools":'))).toBe(asked.slice(0, asked.indexOf('"tools":')));
  expect(sent.slice(sent.indexOf(after))).toBe(asked.slice(asked.indexOf(after)));
});

test("the line with the time is a part of the user's last message, to the letter", async () => {
  const bodies: Buffer[] = [];
  await run(dated, { repairs: all, bodies, calls: [2] });
  const { system, messages: sent } = bare(bodies[0]) as { system: Fields[]; messages: Fields[] };
  expect(system).toEqual([{ type: "text", text: `You code.\n${manual}` }]);
  const [first] = messages(0);
  expect(first).toBeDefined();
  const content = sent.at(-1)?.["content"] as Fields[];
  expect(content).toHaveLength(2);
  expect(content[1]).toEqual({ type: "text", text: 'Current time: 2026-11-16 09:02 – "UTC"' });
});

test("a node that knows nothing of a conversation repairs its next call in the same way", async () => {
  const [one, other]: [Buffer[], Buffer[]] = [[], []];
  await run(shuffling, { repairs: all, bodies: one });
  await run(shuffling, { repairs: all, bodies: other, calls: [3] });
  expect(bare(other[0])).toEqual(bare(one[3]));
  const tools = one.map((body) => JSON.stringify(bare(body)["tools"]));
  expect(new Set(tools).size).toBe(1);
});

test.each<readonly [string, string, Program]>([
  [
    "a model whose thinking is bound to what comes before it",
    all,
    (call) => ({ ...shuffling(call), model: claude }),
  ],
  [
    "a text that is nothing but the time",
    "volatile_to_tail",
    (call) => ({ ...dated(call), system: `Date: 2026-11-16 09:0${call}` }),
  ],
  [
    "thinking, whose turn more text would end",
    "volatile_to_tail",
    (call) => ({
      ...dated(call),
      max_tokens: 3000,
      thinking: { type: "enabled", budget_tokens: 1024 },
    }),
  ],
])("left as it is: %s", async (_what, repairs, program) => {
  const bodies: Buffer[] = [];
  const { calls } = await run(program, { repairs, bodies, calls: [1] });
  expect(bare(bodies[0])).toEqual(bare(Buffer.from(JSON.stringify(program(1)))));
  expect(calls[0]).toMatchObject({ arm: "strata" });
  expect(calls[0]?.repairs).toBeUndefined();
});

test("left as it is: a version that the vendor itself takes out", async () => {
  const served = await serveOptimized({
    isOptimizing: true,
    yaml: "gateway: { optimize: { holdout: 0, wait_ms: 5000, repairs: [drop_attribution] } }",
  });
  await ask(served.url, versioned(0));
  await served.until(1);
  expect(served.calls[0]).toMatchObject({ arm: "strata", upstream: "anthropic" });
  expect(served.calls[0]?.repairs).toBeUndefined();
});
