// Random conversations with what a spelling trips over: any key order, escapes, bursts of blocks, thinking.
import { createRandom, randomMessageText, type Random } from "../../harness/random-message.ts";
import { decodeMessage } from "../../src/core/message/decode-message.ts";
import type { Block, Message, Role } from "../../src/core/message/message.ts";

export interface Dialogue {
  readonly calls: readonly DialogueCall[];
}

export interface DialogueCall {
  /** Since the call before it. */
  readonly gapMs: number;
  readonly current: readonly Message[];
  readonly volatile: string | null;
  readonly reply: Message;
}

export interface DialogueShape {
  readonly callsMax: number;
  /** `soon`: within every lifetime. `any`: some calls come hours later. */
  readonly gaps: "soon" | "any";
}

/** The same for the same seed. Volatile texts are unique to the call that says them, or repeat the one before. */
export function createDialogue(seed: number, { callsMax, gaps }: DialogueShape): Dialogue {
  const random = createRandom(seed);
  const count = 2 + Math.floor(random() * (callsMax - 1));
  const calls: DialogueCall[] = [];
  let ids: readonly string[] = [];
  for (let number = 0; number < count; number += 1) {
    const before = calls.at(-1)?.volatile ?? null;
    const reply = createReply(random, number);
    calls.push({
      gapMs: gaps === "soon" ? Math.floor(random() * 240_000) : anyGapMs(random),
      current:
        ids.length === 0 ? [createQuestion(random, number)] : ids.map((id) => answer(random, id)),
      volatile: createVolatile(random, number, before),
      reply,
    });
    ids = reply.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  }
  return { calls };
}

/** Three calls, with so many long texts in the first reply that no marker for an hour is worth one of them. */
export function createBurst(count: number): Dialogue {
  const question: Message = { role: "user", content: [{ type: "text", text: "What then?" }] };
  const long = "Something that takes a while to say. ".repeat(200);
  const call = { gapMs: 1000, current: [question], volatile: null };
  const reply = (texts: number): Message => ({
    role: "assistant",
    content: many(texts, (index): Block => ({ type: "text", text: `${index}: ${long}` })),
  });
  return {
    calls: [
      { ...call, reply: reply(count) },
      { ...call, reply: reply(1) },
      { ...call, reply: reply(1) },
    ],
  };
}

/** Found in a body as it is: no JSON escape changes it. */
export const volatileMark = "volatile-note";

function createVolatile(random: Random, number: number, before: string | null): string | null {
  const kind = random();
  if (kind < 0.15) return null;
  if (kind < 0.3 && before !== null) return before;
  return `${volatileMark} ${number}: it is ${Math.floor(random() * 1e9)} o'clock.`;
}

function createQuestion(random: Random, number: number): Message {
  const { content } = randomMessage(random, "user");
  const words = `Question ${number}: ${"what does the cache keep of this? ".repeat(1 + size(random, 60))}`;
  return { role: "user", content: [...content, { type: "text", text: words }] };
}

function createReply(random: Random, number: number): Message {
  const { content } = randomMessage(random, "assistant");
  const odd = content.filter(({ type }) => type !== "tool_use");
  const isBurst = random() < 0.25;
  const thoughts = many(random() < 0.4 ? 1 + size(random, 2) : 0, (index): Block => ({
    type: "thinking",
    text: `Thought ${number}.${index}`,
    signature: `signature-${number}-${index}`,
  }));
  const texts = many(isBurst ? 21 + size(random, 20) : 1, (index): Block => ({
    type: "text",
    text: `Part ${number}.${index} of the answer. ${"And more of it. ".repeat(size(random, 20))}`,
  }));
  const toolCount = random() < 0.5 ? 0 : isBurst ? 25 : 1 + size(random, 3);
  const uses = many(toolCount, (index): Block => ({
    type: "tool_use",
    id: `toolu_${number}_${index}`,
    name: "Read",
    inputJson: `{"2":${index}.0,"10":1e3,"path":"src/${index}.ts","1":[${number}]}`,
  }));
  return { role: "assistant", content: [...thoughts, ...odd, ...texts, ...uses] };
}

function answer(random: Random, toolUseId: string): Message {
  const text = `Result of ${toolUseId}: ${"one more line of a file\n".repeat(size(random, 40))}`;
  const content: readonly Block[] = [{ type: "text", text }];
  return {
    role: "tool",
    content: [{ type: "tool_result", toolUseId, content, isError: random() < 0.1 }],
  };
}

function randomMessage(random: Random, role: Role): Message {
  for (;;) {
    const message = decodeMessage(randomMessageText(random));
    if (message.role === role) return message;
  }
}

function anyGapMs(random: Random): number {
  const kind = random();
  if (kind < 0.7) return Math.floor(random() * 300_000);
  return Math.floor(random() * (kind < 0.95 ? 4_000_000 : 100_000_000));
}

function size(random: Random, most: number): number {
  return Math.floor(random() * (most + 1));
}

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
