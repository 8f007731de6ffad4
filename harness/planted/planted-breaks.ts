// Breaks planted in a conversation, and the right explanation of each.
import type { MissCause } from "../../src/core/diagnosis/explanation.ts";
import type { Part, Rendered, Talk } from "./planted-talk.ts";
import { firstDifference } from "./render-talk.ts";
import { growFar, pickOne, randomWords, wholeBetween } from "../random/random-talk.ts";
import type { Random } from "../random-message.ts";

export const breakKinds = [
  "model switched",
  "tools reordered",
  "tool edited",
  "system byte",
  "tool choice",
  "effort",
  "old message",
  "expired",
  "too short",
  "beyond lookback",
  "concurrent",
  "lost",
] as const;

export type BreakKind = (typeof breakKinds)[number];

/** The right explanation of a costly break. */
export interface Truth {
  readonly cause: MissCause;
  readonly path: string;
  /** Offset of the first different byte, if the break is one byte. */
  readonly byteOffset?: number;
  /** The start of the detail. */
  readonly detail?: string;
}

const causes: Readonly<Record<BreakKind, MissCause>> = {
  "model switched": "model changed",
  "tools reordered": "tools reordered",
  "tool edited": "tools changed",
  "system byte": "system changed",
  "tool choice": "parameter changed",
  effort: "parameter changed",
  "old message": "history rewritten",
  expired: "lifetime expired",
  "too short": "below the minimum",
  "beyond lookback": "beyond lookback",
  concurrent: "written concurrently",
  lost: "provider lost it",
};

export interface BrokenTalk {
  readonly talk: Talk;
  readonly byteOffset?: number;
}

/** The request with the break; breaks by time do not change it. */
export function breakTalk(
  kind: BreakKind,
  random: Random,
  { now, sentTurns, otherModel }: { now: Talk; sentTurns: number; otherModel: string },
): BrokenTalk {
  switch (kind) {
    case "model switched":
      return { talk: { ...now, model: otherModel } };
    case "tools reordered":
      return {
        talk: {
          ...now,
          tools: random() < 0.5 ? now.tools.toReversed() : swapped(random, now.tools),
        },
      };
    case "tool edited":
      return { talk: { ...now, tools: edited(random, now.tools) } };
    case "system byte":
      return changeByte(random, now);
    case "tool choice":
      return { talk: { ...now, settings: { ...now.settings, toolChoice: "none" } } };
    case "effort":
      return { talk: { ...now, settings: { ...now.settings, effort: "low" } } };
    case "beyond lookback":
      return { talk: growFar(random, now) };
    case "old message":
      return { talk: rewriteOld(random, now, sentTurns) };
    case "expired":
    case "too short":
    case "concurrent":
    case "lost":
      return { talk: now };
  }
}

/** The block an explanation must name: for content the first different one, otherwise the end of the unread part. */
export function truthOf(kind: BreakKind, before: Rendered, now: Rendered): Truth {
  const cause = causes[kind];
  const difference = firstDifference(before, now);
  const shared = difference === -1 ? before.blocks.length : difference;
  switch (kind) {
    case "model switched":
      return { cause, path: now.blocks[0]?.path ?? "" };
    case "tools reordered":
    case "tool edited":
    case "system byte":
    case "old message":
      return { cause, path: now.blocks[difference]?.path ?? "" };
    case "tool choice":
      return { cause, path: firstOf(now, "messages"), detail: "tool choice: " };
    case "effort":
      return { cause, path: now.blocks[0]?.path ?? "", detail: "effort: " };
    case "expired":
    case "too short":
    case "beyond lookback":
    case "concurrent":
    case "lost": {
      const last = before.marked.findLast((block) => block < shared) ?? -1;
      return { cause, path: before.blocks[last]?.path ?? "" };
    }
  }
}

function firstOf({ blocks }: Rendered, tier: string): string {
  return blocks.find((block) => block.tier === tier)?.path ?? "";
}

function swapped<Item>(random: Random, items: readonly Item[]): readonly Item[] {
  const at = wholeBetween(random, 0, items.length - 2);
  const [first, second] = [items[at], items[at + 1]];
  if (first === undefined || second === undefined) return items;
  return items.toSpliced(at, 2, second, first);
}

function edited(random: Random, tools: Talk["tools"]): Talk["tools"] {
  const at = wholeBetween(random, 0, tools.length - 1);
  const tool = tools[at];
  if (tool === undefined) return tools;
  const kind = random();
  // An extra word, one tool less, or one tool more.
  if (kind < 0.6) {
    return tools.toSpliced(at, 1, { ...tool, description: `${tool.description} now` });
  }
  if (kind < 0.8 && tools.length > 1) return tools.toSpliced(at, 1);
  return tools.toSpliced(at, 0, { name: "tool_new", description: randomWords(random, 20) });
}

function changeByte(random: Random, talk: Talk): BrokenTalk {
  const at = wholeBetween(random, 0, talk.system.length - 1);
  const text = talk.system[at] ?? "";
  const byteOffset = wholeBetween(random, 0, text.length - 1);
  const changed = `${text.slice(0, byteOffset)}#${text.slice(byteOffset + 1)}`;
  return { talk: { ...talk, system: talk.system.with(at, changed) }, byteOffset };
}

/** Changes content of an earlier request: one word, or all of it. */
function rewriteOld(random: Random, talk: Talk, sentTurns: number): Talk {
  const places = talk.turns
    .slice(0, sentTurns)
    .flatMap(({ parts }, turn) =>
      parts.flatMap((part, place) => (part.type === "call" ? [] : [{ turn, place, part }])),
    );
  const { turn, place, part } = pickOne(random, places);
  const old = talk.turns[turn];
  if (old === undefined) return talk;
  const changed: Part = { ...part, text: rewrite(random, part.text) };
  const parts = old.parts.with(place, changed);
  return { ...talk, turns: talk.turns.with(turn, { ...old, parts }) };
}

function rewrite(random: Random, text: string): string {
  const kind = random();
  if (kind < 0.4) return text.replace(/\w+$/, "rewritten");
  if (kind < 0.6) return text.replace(/^\w+/, "rewritten");
  return kind < 0.8 ? "[cleared]" : `now ${randomWords(random, wholeBetween(random, 5, 100))}`;
}
