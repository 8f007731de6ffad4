// Goal: what an application and an agent can do around a compaction. Method: the simulator answers a session that grows.
import { expect, test } from "vitest";
import {
  defaultCompactionSettings,
  defineTool,
  openEngine,
  type CompactionHook,
  type CompactionSettings,
  type OpenedEngine,
} from "../../src/index.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { messagesOf, textOf } from "./looks.ts";
import { createScripted, createSummariser } from "../../src/simulator/index.ts";

/** Due from about 4,800 tokens on. */
const soon = {
  ...defaultCompactionSettings,
  isEnabled: true,
  timing: "at once",
  early: null,
  compactAtShare: 0.005,
  tailKeepTokens: 100,
} as const;

const summarise = createSummariser();
const words = (count: number): string => "some words of a user ".repeat(count);

interface Around {
  readonly hooks?: readonly CompactionHook[];
  readonly settings?: Partial<CompactionSettings>;
  readonly savesMemory?: (text: string) => void;
}

async function open(
  { hooks = [], settings = {}, savesMemory = () => {} }: Around,
  notices: string[] = [],
): Promise<OpenedEngine> {
  const model = createScripted([
    {
      when: ({ turns }) => (turns.at(-1)?.text ?? "").includes("about to be shortened"),
      times: "always",
      text: "secret words",
      toolCalls: [{ name: "memory_add", input: { text: "Kim prefers tabs." } }],
    },
    {
      when: ({ turns }) => /\bsummary\b/i.test(turns.at(-1)?.text ?? ""),
      times: "always",
      reply: summarise,
    },
    { when: () => true, times: "always", text: "Noted." },
  ]);
  return openEngine({
    model: "claude-sonnet-4-6",
    counter: cheapCounter,
    env: {},
    simulate: { model },
    system: "You take notes.",
    tools: [
      defineTool({
        name: "memory_add",
        description: "Saves a line",
        input: { text: "string" },
        run: ({ text }) => {
          savesMemory(text);
          return "saved";
        },
      }),
    ],
    compaction: { ...soon, ...settings },
    compactionHooks: hooks,
    onNotice: (notice) => void notices.push(notice),
  });
}

test("hooks run together before and after a compaction, and their errors are notices (X-38)", async () => {
  const told: string[] = [];
  const notices: string[] = [];
  const wait = Promise.withResolvers<void>();
  const hooks: readonly CompactionHook[] = [
    {
      before: async ({ trigger }) => {
        await wait.promise;
        told.push(`first before ${trigger}`);
      },
      after: ({ isCompacted, turnId }) => told.push(`first after ${isCompacted} in ${turnId}`),
    },
    {
      before: () => {
        wait.resolve();
        throw new Error("the disk is full");
      },
    },
  ];
  await using engine = await open({ hooks }, notices);
  const session = await engine.session("one");
  for (let turn = 1; turn <= 5; turn += 1) {
    await session.run(`${words(300)} in turn ${turn}`, { id: `turn-${turn}` }).result;
  }
  expect(session.session.compactionState.folds).toBe(1);
  expect(told).toEqual(["first before token_pressure", "first after true in turn-4"]);
  expect(notices.slice(1)).toEqual(["a hook before a compaction failed: the disk is full"]);
});

test("a hook that never ends does not keep a session from being closed", async () => {
  const notices: string[] = [];
  const begun = Promise.withResolvers<void>();
  const before = (): Promise<never> => {
    begun.resolve();
    return new Promise(() => {});
  };
  const engine = await open({ hooks: [{ before }] }, notices);
  const session = await engine.session("one");
  const turns = async (): Promise<void> => {
    for (let turn = 1; turn <= 5; turn += 1) await session.run(`${words(300)} ${turn}`).result;
  };
  const over = turns().catch(() => {});
  await begun.promise;
  await engine.close();
  await over;
  expect(notices.at(-1)).toContain("a hook before a compaction failed: it was not over");
});

test("before a compaction the agent may save memory in a silent turn, once (X-38)", async () => {
  const saved: string[] = [];
  const shown: string[] = [];
  const folds: number[] = [];
  await using engine = await open({
    settings: { flushesMemory: true },
    savesMemory: (text) => void saved.push(text),
    hooks: [{ before: () => folds.push(saved.length) }],
  });
  const session = await engine.session("one");
  for (let turn = 1; turn <= 5; turn += 1) {
    const run = session.run(`${words(300)} in turn ${turn}`);
    for await (const part of run) if (part.type === "text") shown.push(part.text);
    expect((await run.result).end).toBe("done");
  }
  expect(saved).toEqual(["Kim prefers tabs."]);
  expect(folds).toEqual([1]);
  expect(shown.join(" ")).not.toContain("secret words");
  const types: string[] = [];
  for await (const { type } of engine.ledger.readTurns({ sessionId: "one" })) types.push(type);
  // Five of the user, the silent one, and the compaction's.
  expect(types.toSorted().slice(0, 2)).toEqual(["compaction", "normal"]);
  expect(types).toHaveLength(7);
});

test("no turn saves memory where that is off", async () => {
  const saved: string[] = [];
  await using engine = await open({ savesMemory: (text) => void saved.push(text) });
  const session = await engine.session("one");
  for (let turn = 1; turn <= 5; turn += 1) await session.run(words(300)).result;
  expect(session.session.compactionState.folds).toBe(1);
  expect(saved).toEqual([]);
});

/** The user's words in the notes of a session that was compacted once. */
async function wordsAfter(userWordsTokensMax: number): Promise<string | undefined> {
  const settings = { compactAtShare: 0.03, tailTurnsMin: 1, userWordsTokensMax };
  await using engine = await open({ settings });
  const session = await engine.session("one");
  await session.run("Never touch the main branch.").result;
  for (let turn = 2; turn <= 8; turn += 1) await session.run(words(900)).result;
  expect(session.session.compactionState.folds).toBe(1);
  const [notes] = messagesOf(session.session);
  const text = notes === undefined ? "" : textOf(notes);
  return /--- The user's words ---\n([^]*)\n<\/notes/.exec(text)?.[1];
}

test("what the user wrote stands in the notes word for word, as far as it fits (H-13)", async () => {
  expect(await wordsAfter(2_000)).toBe(
    "(others, older or longer, are not repeated)\n[user message]\nNever touch the main branch.",
  );
  expect(await wordsAfter(0)).toBeUndefined();
});
