// Goal: the door. Ten lines open an engine, run a turn with a tool, and find the session again.
// Method: the simulator answers; a turn is left open by a process whose provider never comes back.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { defineTool, openEngine, openLedger, StrataError, type TurnPart } from "../src/index.ts";
import { cheapCounter } from "../src/core/tokens/cheap-counter.ts";
import { createScripted, createSimulator } from "../src/simulator/index.ts";
import { plantedToken } from "../harness/planted-key.ts";

const folder = mkdtempSync(join(tmpdir(), "strata-door-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "notes.md");
writeFileSync(file, "Two files changed.");

const model = "claude-sonnet-5-5";
const usual = { model, counter: cheapCounter, env: {} };

function asksThenSays(): { readonly model: ReturnType<typeof createScripted> } {
  return {
    model: createScripted([
      { text: "I look.", toolCalls: [{ name: "read_file", input: { path: file } }] },
      { text: "Two files." },
      { text: "Still two." },
    ]),
  };
}

const readTool = defineTool({
  name: "read_file",
  description: "Reads a file",
  input: { path: "string", lines: "integer?" },
  run: ({ path }) => readFile(path, "utf8"),
});

test("a library user is told once that a provider takes no cache markers", async () => {
  const notices: string[] = [];
  const onNotice = (text: string): void => void notices.push(text);
  const simulate = { model: createScripted([{ text: "Yes.", times: "always" }]) };
  await using engine = await openEngine({ ...usual, model: "gpt-5.5", simulate, onNotice });
  await (await engine.session("one")).run("Hello.").result;
  await (await engine.session("two")).run("Hello.").result;
  expect(notices.filter((text) => text.includes("takes no cache markers"))).toEqual([
    expect.stringContaining("it caches by itself, and the prefix is kept stable"),
  ]);
});

test("ten lines run a turn with a tool, and the session is found again by its name", async () => {
  const store = join(folder, "agent.db");
  const system = "You are a careful reviewer.";
  const options = { ...usual, system, tools: [readTool], store, simulate: asksThenSays() };
  {
    await using engine = await openEngine(options);
    const session = await engine.session("review-42");
    expect(await engine.ledger.findSession("review-42")).toBeNull();
    const turn = session.run("What changed?");
    let text = "";
    const tools: string[] = [];
    for await (const part of turn) {
      if (part.type === "text") text += part.text;
      if (part.type === "tool") tools.push(`${part.name} ${part.status}`);
    }
    expect(text).toBe("I look.Two files.");
    expect(tools).toEqual(["read_file asked", "read_file running", "read_file succeeded"]);
    const { end, calls } = await turn.result;
    expect(end).toBe("done");
    // What a call cost and was planned to cost survives JSON, as decimal text.
    const said = JSON.parse(JSON.stringify(calls[0])) as { readonly costPicoUsd: string };
    expect(said.costPicoUsd).toBe(String(calls[0]?.costPicoUsd));
    // Nothing of ours is in the prompt.
    expect(session.session.madeOf.map(({ name }) => name)).toEqual(["system prompt", "simulation"]);
  }
  await using engine = await openEngine({ ...options, simulate: true });
  const again = await engine.session("review-42");
  expect(again.session.headTurnId).not.toBeNull();
  expect((await again.run("Sure?").result).end).toBe("done");
});

test("a plain system prompt is sent alone, and the context names all that is not the user's", async () => {
  const engine = await openEngine({
    ...usual,
    system: "You are a careful reviewer.",
    tools: [readTool],
    simulate: true,
  });
  await using opened = engine;
  const session = await opened.session("plain");
  const call = await session.prepare("What changed?");
  const body = JSON.parse(new TextDecoder().decode(call.toBytes())) as {
    readonly system: readonly { readonly text: string }[];
    readonly tools: readonly { readonly name: string }[];
  };
  expect(body.system.map(({ text }) => text)).toEqual(["You are a careful reviewer."]);
  expect(body.tools.map(({ name }) => name)).toEqual(["read_file"]);
  const { pieces, systemPrompt } = call.toContext();
  expect(systemPrompt).toBe("You are a careful reviewer.");
  expect(pieces.map(({ tier, name, from }) => [tier, name, from])).toEqual([
    ["T0", "read_file", "user"],
    ["T1", "system prompt", "user"],
    ["T5", "event", "strata"],
  ]);
  await session.abandon();
});

test.each([
  ["global", 10],
  ["europe-west4", 11],
])(
  "a cloud is reached by its own variables alone, and its location %s decides the price",
  async (location, dollarsForMillion) => {
    const server = await createSimulator({ model: createScripted([{ text: "Yes." }]) }).listen({
      port: 0,
    });
    onTestFinished(() => server.close());
    const env = {
      CLOUDSDK_AUTH_ACCESS_TOKEN: plantedToken,
      GOOGLE_CLOUD_PROJECT: "p",
      GOOGLE_CLOUD_LOCATION: location,
      GOOGLE_VERTEX_BASE_URL: server.url,
    };
    await using engine = await openEngine({ ...usual, model: "vertex/claude-sonnet-5-5", env });
    const session = await engine.session("s");
    const { end, calls } = await session.run("Hi").result;
    expect(end).toBe("done");
    const [call] = calls;
    const { uncachedTokens = 0, outputTokens = 0 } = call?.usage ?? {};
    const pico = (uncachedTokens / 5 + outputTokens) * dollarsForMillion * 1_000_000;
    expect(Number(call?.costPicoUsd)).toBeCloseTo(pico, 0);
  },
);

test("without a key it says how to go on, and names the simulator", async () => {
  const opening = openEngine(usual);
  await expect(opening).rejects.toThrow(StrataError);
  await expect(opening).rejects.toMatchObject({
    code: "environment-unfit",
    message: "claude-sonnet-5-5 cannot be reached: no provider has a key",
    hint: expect.stringContaining("simulate: true") as string,
  });
  const env = { OPENAI_API_KEY: "sk-none" };
  await expect(openEngine({ ...usual, env })).rejects.toMatchObject({
    hint: expect.stringContaining("simulate: true") as string,
  });
});

/** A session with a turn whose process died while its tool ran. */
async function leaveOpen(store: string): Promise<void> {
  const ledger = await openLedger(store, { leaseMs: 50 });
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  const nothing = Promise.resolve();
  let isDead = false;
  const hanging = defineTool({
    name: "read_file",
    description: "Reads a file",
    input: { path: "string", lines: "integer?" },
    run: () => {
      begun.resolve();
      return ended.promise;
    },
  });
  const engine = await openEngine({
    ...usual,
    tools: [hanging],
    // A dead process stores nothing.
    store: {
      ...ledger,
      appendEvents: (events) => (isDead ? nothing : ledger.appendEvents(events)),
    },
    simulate: asksThenSays(),
  });
  onTestFinished(() => {
    ended.resolve("too late");
    return engine.close();
  });
  const session = await engine.session("left");
  const turn = session.run("What changed?");
  await begun.promise;
  // The lease is lost with its connection.
  await ledger.close();
  isDead = true;
  turn.result.catch(() => {});
}

async function readParts(parts: AsyncIterable<TurnPart>): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const part of parts) {
    if (part.type === "text") seen.push(part.text);
    if (part.type === "started" || part.type === "ended") seen.push(part.type);
  }
  return seen;
}

test.each([
  ["finish", ["started", "Two files.", "ended", "started", "Still two.", "ended"]],
  ["abandon", ["started", "Still two.", "ended"]],
] as const)("the first run can %s a turn that a process left open", async (unfinished, parts) => {
  const store = join(folder, `${unfinished}.db`);
  await leaveOpen(store);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const script = createScripted(
    unfinished === "finish"
      ? [{ text: "Two files." }, { text: "Still two." }]
      : [{ text: "Still two." }],
  );
  await using engine = await openEngine({
    ...usual,
    tools: [readTool],
    store,
    unfinished,
    simulate: { model: script },
  });
  const session = await engine.session("left");
  const turn = session.run("And now?");
  expect(await readParts(turn)).toEqual(parts);
  const { end } = await turn.result;
  expect(end).toBe("done");
  expect((await engine.ledger.findSession("left"))?.openTurnId).toBeNull();
  expect((await session.run("Thanks.").result).end).not.toBe("cancelled");
});
