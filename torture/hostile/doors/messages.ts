// Messages as JSON text and as values: decoders, encoders and validators.
import { createRandom, randomMessageText, type Random } from "../../../harness/random-message.ts";
import { decodeBlock, decodeMessage } from "../../../src/core/message/decode-message.ts";
import { encodeMessage, spellMessage } from "../../../src/core/message/encode-message.ts";
import type { Message } from "../../../src/core/message/message.ts";
import { validateConversation } from "../../../src/core/message/validate-conversation.ts";
import {
  validateMessage,
  validateRecord,
  validateUsage,
} from "../../../src/core/message/validate-message.ts";
import { countMessage } from "../../../src/core/tokens/raw-count.ts";
import { cheapCounter } from "../../../src/core/tokens/cheap-counter.ts";
import { nothingWritten, type Spelling } from "../../../src/core/assembly/spelling.ts";
import { resolveModel } from "../../../src/core/models/resolve-model.ts";
import { protocols } from "../../../src/core/wire/protocols.ts";
import type { OpenDoor, Outcome, Refusal } from "../door.ts";
import { keysIn, mutateJson, mutateText, oddJson, pick, some, type Json } from "../mutate.ts";

export function open(): OpenDoor {
  const first = createRandom(1);
  const texts = Array.from({ length: 60 }, () => randomMessageText(first));
  const samples: readonly Json[] = texts.map((text) => JSON.parse(text));
  const known = keysIn(samples);
  return { attempt: (random) => attempt(random, texts, samples, known) };
}

function attempt(
  random: Random,
  texts: readonly string[],
  samples: readonly Json[],
  known: readonly string[],
): Outcome {
  const kind = random();
  if (kind < 0.3) return readText(mutateJson(random, pick(random, samples), known));
  if (kind < 0.5) return readText(mutateText(random, pick(random, texts)));
  if (kind < 0.6) return readText(oddJson(random, known));
  if (kind < 0.65) {
    const block = decodeBlock(mutateJson(random, pick(random, samples), known));
    return { isAccepted: true, outputs: [JSON.stringify(block)] };
  }
  return checkValues(random, samples, known);
}

function readText(text: string): Outcome {
  const message = decodeMessage(text);
  const broken = validateMessage(message).map(toRefusal);
  if (broken.length > 0) return { isAccepted: false, outputs: [], refusals: broken };
  countMessage(message, cheapCounter);
  for (const spelling of spellings) spelling.message(message, nothingWritten);
  return { isAccepted: true, outputs: [encodeMessage(message), spellMessage(message)] };
}

/** How each protocol writes a message. */
const spellings: readonly Spelling[] = protocols.map((protocol) => {
  const model = protocol.access.kind.startsWith("openai") ? "gpt-5.5" : "claude-sonnet-5-5";
  return protocol.spelling(resolveModel(model).facts);
});

/** Values of any shape, as a program without types could pass them. */
function checkValues(random: Random, samples: readonly Json[], known: readonly string[]): Outcome {
  const messages = some(random, 6, (): unknown => {
    const text =
      random() < 0.5 ? oddJson(random, known) : mutateJson(random, pick(random, samples), known);
    return parsed(text);
  }) as Message[];
  const odd = parsed(oddJson(random, known)) as never;
  const broken = [
    ...validateConversation(random() < 0.9 ? messages : odd),
    ...validateRecord(odd),
    ...validateUsage(odd),
  ].map(toRefusal);
  return { isAccepted: broken.length === 0, outputs: [], refusals: broken };
}

function toRefusal({
  rule,
  message,
}: {
  readonly rule: string;
  readonly message: string;
}): Refusal {
  return { code: rule, hint: message };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
