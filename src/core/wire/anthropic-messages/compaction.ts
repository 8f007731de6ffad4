// A summary on demand: the same request with one more member, without the members that it excludes.
import { fieldsOf, parseFields } from "../../message/fields.ts";
import { memberTexts } from "../../message/json-text.ts";
import type { JsonText, Message } from "../../message/message.ts";
import type { EncodedRequest, EncodeNote } from "../encoded-request.ts";
import type { CallOptions, CompactionToEncode, ProtocolCompaction } from "../protocol.ts";
import type { Reply } from "../reply.ts";
import { decodeReply } from "./decode.ts";
import type { EncodeBody } from "./encode.ts";
import { compactionBeta, textOf } from "./schema.ts";

/** For the Messages API, or for a cloud that carries its bodies. */
export function createCompaction(encode: EncodeBody): ProtocolCompaction {
  return { ...withoutEncoding, encode: (call) => encodeCompaction(call, encode) };
}

const withoutEncoding: Omit<ProtocolCompaction, "encode"> = {
  canStream: true,
  findObstacle: ({ betas = [] }) =>
    betas.includes(thresholdBeta)
      ? `calls ask for ${thresholdBeta}, which cannot be combined with a summary on demand`
      : null,
  keepsPrefix: ({ options }) => {
    const { left } = takenOptions(options);
    return !left.some(({ isInPrefix }) => isInPrefix);
  },
  decode: decodeReply,
  messagesIn,
};

/** The provider's other way to compact: automatically, at a number of tokens. */
const thresholdBeta = "compact-2026-01-12";

const instructionsMax = 16_384;

function encodeCompaction(
  { instructions = "", ...call }: CompactionToEncode,
  encode: EncodeBody,
): EncodedRequest {
  const { options, left } = takenOptions(call.options);
  const asked = cutInstructions(instructions.trim());
  const wish = asked.text === "" ? "" : `,"instructions":${JSON.stringify(asked.text)}`;
  const request = encode({
    ...call,
    options: {
      ...options,
      betas: [...(options.betas ?? []), compactionBeta],
      extraJson: { ...options.extraJson, compaction: `{"type":"summarize"${wish}}` },
    },
  });
  const notes = left.map(({ what }) => ignored(`${what}: not taken with a summary on demand`));
  return { ...request, notes: [...notes, ...asked.notes, ...request.notes] };
}

interface LeftOption {
  readonly what: string;
  /** Whether the cached prefix depends on it. */
  readonly isInPrefix: boolean;
}

interface TakenOptions {
  readonly options: CallOptions;
  readonly left: readonly LeftOption[];
}

function takenOptions(given: CallOptions): TakenOptions {
  const { stopSequences, toolChoice, outputSchemaJson, extraJson = {}, ...rest } = given;
  const left: LeftOption[] = [];
  const leave = (what: string, isInPrefix: boolean): void => void left.push({ what, isInPrefix });
  if (stopSequences !== undefined) leave("stop sequences", false);
  if (outputSchemaJson !== undefined) leave("the output schema", true);
  const isFree = toolChoice === undefined || toolChoice === "auto" || toolChoice === "none";
  if (!isFree) leave("tool choice", true);
  const extra: Record<string, JsonText> = {};
  for (const [name, json] of Object.entries(extraJson)) {
    if (name === "stop_sequences" || name === "compaction") leave(name, false);
    else if (name === "context_management") leave(name, true);
    else if (name === "tool_choice" && isForced(json)) leave(name, true);
    else if (name === "output_config") extra[name] = withoutFormat(json, leave);
    else extra[name] = json;
  }
  const options = { ...rest, ...(isFree && toolChoice !== undefined ? { toolChoice } : {}) };
  return { options: { ...options, extraJson: extra }, left };
}

function isForced(json: JsonText): boolean {
  const type = textOf(parseFields(json)?.["type"]);
  return type === "any" || type === "tool";
}

/** The effort stays: the cache depends on it. */
function withoutFormat(
  json: JsonText,
  leave: (what: string, isInPrefix: boolean) => void,
): JsonText {
  const fields = parseFields(json);
  if (fields === undefined) return json;
  const isBudgetLeft = fieldsOf(fields["task_budget"])["remaining"] !== undefined;
  const kept = [...memberTexts(json)].filter(([name]) => {
    const isLeft = name === "format" || (name === "task_budget" && isBudgetLeft);
    if (isLeft) leave(`output_config.${name}`, name === "format");
    return !isLeft;
  });
  return `{${kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

function cutInstructions(text: string): { text: string; notes: readonly EncodeNote[] } {
  if (text.length <= instructionsMax) return { text, notes: [] };
  const detail = `the instructions are ${text.length} characters long, and cut to ${instructionsMax}`;
  // Half a character would be refused.
  const cut = text.slice(0, instructionsMax).replace(/[\uD800-\uDBFF]$/, "");
  return { text: cut, notes: [ignored(detail)] };
}

function ignored(detail: string): EncodeNote {
  return { kind: "option-ignored", detail };
}

/** One signed block in its own message. A reply without one, or with other blocks, is not a compaction. */
function messagesIn({ message, status }: Reply): readonly Message[] {
  const [block, ...others] = message.content;
  const isWhole = status === "complete" && block?.type === "compaction" && others.length === 0;
  if (!isWhole || (block.content ?? "") === "" || (block.signature ?? "") === "") return [];
  return [{ role: "assistant", content: [block] }];
}
