// Random conversations that grow like an agent's.
import type { Random } from "../random-message.ts";
import {
  layouts,
  type Api,
  type Layout,
  type Part,
  type Talk,
  type Turn,
} from "../planted/planted-talk.ts";

export interface TalkShape {
  readonly api: Api;
  readonly model: string;
  readonly layout: Layout;
  /** Approximate tokens of tools and system together. */
  readonly foundationTokens: number;
  readonly tools: boolean;
}

export function randomTalk(
  random: Random,
  { api, model, layout, tools, foundationTokens }: TalkShape,
): Talk {
  const systemBlocks = wholeBetween(random, 1, 3);
  return {
    api,
    model,
    layout,
    settings: {},
    tools: tools
      ? Array.from({ length: wholeBetween(random, 3, 8) }, (_, index) => ({
          name: `tool_${String.fromCharCode(97 + index)}`,
          description: randomWords(random, wholeBetween(random, 8, 40)),
        }))
      : [],
    system: Array.from({ length: systemBlocks }, () =>
      randomWords(random, Math.ceil(foundationTokens / systemBlocks)),
    ),
    turns: [userTurn(random, 60)],
  };
}

/** Adds a reply and the next input: tool results or a user message. */
export function growTalk(random: Random, talk: Talk): Talk {
  const kind = random();
  if (talk.tools.length === 0 || kind < 0.4) return addTurns(talk, replyAndWords(random, 120));
  const calls = Array.from({ length: kind < 0.8 ? 1 : 3 }, () => randomId(random));
  const reply: Part[] = [
    { type: "text", text: randomWords(random, wholeBetween(random, 3, 60)) },
    ...calls.map((id): Part => ({ type: "call", id, path: randomWords(random, 3) })),
  ];
  const results = calls.map((id): Part => ({
    type: "result",
    id,
    text: randomWords(random, wholeBetween(random, 10, 200)),
  }));
  return addTurns(talk, [
    { role: "assistant", parts: reply },
    { role: "user", parts: results },
  ]);
}

/** Adds more messages than any marker looks back. */
export function growFar(random: Random, talk: Talk): Talk {
  const pairs =
    talk.api === "messages" ? wholeBetween(random, 11, 16) : wholeBetween(random, 22, 26);
  return addTurns(talk, Array.from({ length: pairs }, () => replyAndWords(random, 12)).flat());
}

/** The same request with another ending, like several questions about one document. */
export function replaceLastWords(random: Random, talk: Talk): Talk {
  const last = talk.turns.at(-1);
  if (last === undefined) return talk;
  const parts = last.parts.map((part): Part =>
    part.type === "call" ? part : { ...part, text: randomWords(random, 30) },
  );
  return { ...talk, turns: [...talk.turns.slice(0, -1), { ...last, parts }] };
}

function addTurns(talk: Talk, turns: readonly Turn[]): Talk {
  return { ...talk, turns: [...talk.turns, ...turns] };
}

export function replyAndWords(random: Random, wordsMax: number): readonly Turn[] {
  const text = randomWords(random, wholeBetween(random, 3, 60));
  return [{ role: "assistant", parts: [{ type: "text", text }] }, userTurn(random, wordsMax)];
}

function userTurn(random: Random, wordsMax: number): Turn {
  const parts = Array.from({ length: random() < 0.2 ? 2 : 1 }, (): Part => {
    return { type: "text", text: randomWords(random, wholeBetween(random, 5, wordsMax)) };
  });
  return { role: "user", parts };
}

const vocabulary =
  "the quick brown fox jumps over lazy dog while reading files and writing code for tests in src main index server client module function value error".split(
    " ",
  );

export function randomWords(random: Random, count: number): string {
  return Array.from({ length: count }, () => pickOne(random, vocabulary)).join(" ");
}

export function randomId(random: Random): string {
  return `call_${Math.floor(random() * 1e9)}`;
}

export function wholeBetween(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

export function pickOne<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

export function randomLayout(random: Random, api: Api): Layout {
  return api === "messages" ? pickOne(random, layouts) : "own";
}
