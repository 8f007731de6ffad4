// A long agent conversation for benchmarks: unique messages of about 200 tokens each.
import type { Message } from "../src/core/message/message.ts";
import { createRandom, type Random } from "./random-message.ts";

/** Four messages a turn: a question, a tool use, its result, an answer. */
export function createConversation(messageCount: number, seed: number): Message[] {
  const random = createRandom(seed);
  return Array.from({ length: messageCount }, (_, index) => createMessage(index, random));
}

function createMessage(index: number, random: Random): Message {
  const id = `toolu_${Math.floor(index / 4)}`;
  switch (index % 4) {
    case 0:
      return { role: "user", content: [{ type: "text", text: prose(random, 126) }] };
    case 1:
      return {
        role: "assistant",
        content: [
          { type: "text", text: prose(random, 42) },
          {
            type: "tool_use",
            id,
            name: "Edit",
            inputJson: JSON.stringify({ path: `src/${word(random)}.ts`, new: code(random, 8) }),
          },
        ],
      };
    case 2: {
      const content = [{ type: "text" as const, text: code(random, 14) }];
      return {
        role: "tool",
        content: [{ type: "tool_result", toolUseId: id, content, isError: false }],
      };
    }
    default:
      return { role: "assistant", content: [{ type: "text", text: prose(random, 126) }] };
  }
}

function prose(random: Random, words: number): string {
  const text = Array.from({ length: words }, () => word(random)).join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function code(random: Random, lines: number): string {
  const line = (): string =>
    `  const ${word(random)} = ${word(random)}(${word(random)}, ${Math.floor(random() * 9999)});`;
  return Array.from({ length: lines }, line).join("\n");
}

const words = (
  "the a of to in is that it for on with as are this be at by from or an have not but what all were when " +
  "we there can more if will each about how up out them then she many some so these would other into has " +
  "call cache prefix token message reply request server client test build change file line error value " +
  "function return write read open close first last order price model window marker session thread turn " +
  "invoice customer country discount amount number string object array branch commit review release note"
).split(" ");

/** Half of the words are invented, like names in code, so that a cache of words does not help a tokenizer. */
function word(random: Random): string {
  const known = (): string => words[Math.floor(random() * words.length)] ?? "the";
  if (random() < 0.7) return known();
  const second = known();
  return `${known()}${second.charAt(0).toUpperCase()}${second.slice(1)}${Math.floor(random() * 99)}`;
}
