// Goal: the ledger says what a turn came from and what it used. Method: scripted turns with real tools on the simulator,
// and the ledger, its export and the context of a call are read.
import { expect, test } from "vitest";
import type { TurnRecord } from "../../src/core/ledger/turn-record.ts";
import { defineTool } from "../../src/core/tools/define-tool.ts";
import { createDispatcher } from "../../src/edge/tools/dispatch/dispatcher.ts";
import { createScripted, type ScriptStep } from "../../src/simulator/index.ts";
import { openWorld } from "../own-loop/test-kit.ts";
import { makePlace, plantedKey, serve, start, type Started } from "./test-kit.ts";

async function setUp(steps: readonly ScriptStep[]): Promise<Started> {
  const place = makePlace();
  const { url } = await serve({ model: createScripted(steps) });
  place.put("a.txt", "old\n");
  place.put("IDENTITY.md", "Name: Ada\n");
  place.configure(
    `models: { default: claude-haiku-4-5 }
tools: { toolset: full, bash: true, confirm: [execute] }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  return start(place);
}

const readsAndRuns: readonly ScriptStep[] = [
  {
    text: "Looking.",
    toolCalls: [
      { name: "read", input: { path: "a.txt" } },
      { name: "bash", input: { command: "true" } },
    ],
  },
  { text: "Done." },
];

async function turnsOf({ ledger }: Pick<Started, "ledger">): Promise<readonly TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for await (const turn of ledger.readTurns({ sessionId: "s" })) turns.push(turn);
  return turns;
}

test("X-30: an event's id and the permissions of the tools that ran are in the turn's row and in the export", async () => {
  const started = await setUp(readsAndRuns);
  const session = await started.engine.session("s", { routingKey: "slack:ops:42" });
  await session.run({ id: "msg-17", content: "Look.", source: "webhook" }).result;
  // Nothing confirmed the command, so it did not run.
  expect(await turnsOf(started)).toMatchObject([
    {
      sourceEventId: "msg-17",
      permissionsUsed: ["files.read"],
      toolset: { name: "full", permissionsGranted: expect.arrayContaining(["commands.run"]) },
    },
  ]);
  const lines: string[] = [];
  for await (const line of started.ledger.exportSession("s")) lines.push(line);
  const exported = lines.find((line) => line.includes('"msg-17"'));
  expect(exported).toContain('"permissions_used":"[\\"files.read\\"]"');
});

test("X-30: permissions of tools that ran in another process are counted when the turn is closed here", async () => {
  const { engine, ledger, post } = await openWorld({ deps: { world: lookingWorld } });
  const session = await engine.open({ id: "s" });
  const first = await session.prepare("Look.", { id: "t" });
  const { toolUses } = await session.record(first, await post(first));
  await session.prepare(toolUses.map(({ id }) => ({ toolUseId: id, content: "red" })));
  await session.release();
  const other = await engine.resume("s");
  await other.prepareUnfinished();
  const second = await other.prepare([]);
  await other.record(second, await post(second));
  expect(await ledger.findTurn("t")).toMatchObject({
    status: "completed",
    permissionsUsed: ["files.read"],
  });
});

const lookTool = {
  ...defineTool({ name: "look", description: "Looks.", run: () => "red" }),
  needs: ["files.read"],
};

const lookingWorld = () =>
  Promise.resolve({
    context: () => Promise.resolve({ parts: {} }),
    tools: createDispatcher({ tools: [lookTool] }),
  });

test("X-31: a session is recorded with its persona's name, and found by its routing key", async () => {
  const started = await setUp([{ text: "Hello." }]);
  const session = await started.engine.session("s", { routingKey: "slack:ops:42" });
  await session.run("Hello.").result;
  const found = await started.ledger.listSessions({ routingKey: "slack:ops:42" });
  expect(found).toMatchObject([{ id: "s", personaId: "Ada", routingKey: "slack:ops:42" }]);
  expect(await started.ledger.listSessions({ routingKey: "slack:ops:43" })).toEqual([]);
});

test("X-07: an event's id is in the context of its calls, also after another process took the turn over", async () => {
  const { engine, post } = await openWorld();
  const session = await engine.open({ id: "s" });
  const first = await session.prepare({ id: "msg-17", content: "Look.", source: "human" });
  expect(first.toContext().sourceEventId).toBe("msg-17");
  const { toolUses } = await session.record(first, await post(first));
  await session.release();
  const other = await engine.resume("s");
  await other.prepareUnfinished();
  const second = await other.prepare(toolUses.map(({ id }) => ({ toolUseId: id, content: "red" })));
  expect(second.toContext().sourceEventId).toBe("msg-17");
});

test("an event's id that is blank or no text, and lines that end before they begin, are refused before anything is recorded", async () => {
  const { engine, ledger } = await openWorld();
  const session = await engine.open({ id: "s" });
  expect(() => session.run({ id: " ", content: "Look.", source: "human" })).toThrow(
    "id must not be blank",
  );
  const wrong = [{ path: "a.ts", lines: [9, 3] as const }];
  expect(() => session.run({ content: "Look.", source: "human", attachments: wrong })).toThrow(
    "attachments must be a list of { path, lines }, with lines as [first, last] from 1",
  );
  const number = { id: 17, content: "Look.", source: "human" } as unknown as { content: string };
  expect(() => session.run({ source: "human", ...number })).toThrow("id must be text");
  expect(await ledger.findSession("s")).toBe(null);
});

test("X-22: an event's attachments are in the note on its message and in the context of its calls", async () => {
  const { engine, ledger, post } = await openWorld();
  const session = await engine.open({ id: "s" });
  const attachments = [{ path: "ci.yml", lines: [3, 9] as const }, { path: "README.md" }];
  const said = { content: "Why is CI red?", source: "human", attachments };
  const first = await session.prepare(said, { id: "t" });
  expect(first.toContext().attachments).toEqual(attachments);
  expect(new TextDecoder().decode(first.toBytes())).not.toContain("README.md");
  const { toolUses } = await session.record(first, await post(first));
  const [asked, reply] = await ledger.readMessages("t");
  expect(JSON.parse(asked?.contextJson ?? "")).toMatchObject({ source: "human", attachments });
  expect(reply?.contextJson).toBe(null);
  await session.release();
  const other = await engine.resume("s");
  await other.prepareUnfinished();
  const second = await other.prepare(toolUses.map(({ id }) => ({ toolUseId: id, content: "red" })));
  expect(second.toContext().attachments).toEqual(attachments);
});
