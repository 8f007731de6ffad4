// Canonical tools, system text and messages → the bytes of a request, written so that more can be appended.
import { parseFields } from "../../message/fields.ts";
import type { LeftOut, Spelled, SpelledBlock, Spelling, Written } from "../../assembly/spelling.ts";
import { spellMessage } from "../../message/encode-message.ts";
import type { CompactionBlock, JsonText, Message, Role } from "../../message/message.ts";
import { encodeToolDefinition } from "../../message/tool-definition.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { clearAtBeta, compactionBeta, type WireRole } from "./schema.ts";
import { repairCharacters, repairOf } from "./repair-characters.ts";
import { spellContent } from "./spell-content.ts";
import { withoutMarkers } from "./strip-markers.ts";

/**
 * A message's list stays open until the role changes: the next message writes `]}`, or
 * the encoder after the last one.
 */
export function toSpelling(model: Pick<ModelFacts, "capabilities">): Spelling {
  const { midConversationSystem: takesSystem, compactsOnDemand } = model.capabilities;
  return {
    tools: (tools) =>
      tools.map((tool, index) => foundationBlock(encodeToolDefinition(tool), index, "tools")),
    system: (blocks) =>
      blocks.map(({ text }, index) => foundationBlock(textJson(text), index, "system")),
    message: (message, written) => {
      if (message.role !== "system") return spellSaid(message, written, compactsOnDemand);
      if (!takesSystem) return leaveOut(notTaken, written);
      return message.json === undefined
        ? spellOpen(message, written)
        : spellVerbatim(message, message.json, written);
    },
    volatile: (text, written, how) => {
      const content = [{ type: "text" as const, text }];
      if (how === "kept" && takesSystem && text !== "") return spellCleared(content, written);
      if (how === "system message" && takesSystem) {
        return spellOpen({ role: "system", content }, written);
      }
      const message: Message = { role: "user", content };
      const spelled = spellOpen(message, written);
      return how === "kept" ? { ...spelled, message } : spelled;
    },
  };
}

function foundationBlock(json: JsonText, index: number, role: "tools" | "system"): SpelledBlock {
  const repaired = repairCharacters(json);
  const what = role === "tools" ? "the tools" : "the system text";
  return {
    json: (index === 0 ? "" : ",") + repaired.json,
    markerFromEnd: 1,
    kind: role === "tools" ? "tool definition" : "system text",
    role,
    endsMessage: false,
    content: [],
    ...(repaired.count === 0 ? {} : { leftOut: [repairOf(what, repaired.count)] }),
  };
}

function textJson(text: string): JsonText {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

function leaveOut(reason: string, written: Written): Spelled {
  return { blocks: [], written, leftOut: [{ what: "a system message", reason }] };
}

/** A move into the system prompt would change the prefix of all sent messages. */
const notTaken = "the model takes none among the messages";

/** The provider accepts its signed summary only on models that compact, and only as the first block. */
function spellSaid(message: Message, written: Written, takesSummaries: boolean): Spelled {
  const summary = signedSummary(message);
  if (summary === undefined) return spellOpen(message, written);
  if (takesSummaries && written.blockCount === 0) {
    const spelled = spellOpen(message, written);
    return { ...spelled, written: withBeta(spelled.written, compactionBeta) };
  }
  const reason = takesSummaries ? "it is not the first block" : "the model takes none on its route";
  const { messages, leftOut } = toPlainSummary(message, summary, reason);
  return messages.reduce<Spelled>(
    (before, each) => {
      const next = spellOpen(each, before.written);
      return {
        blocks: [...before.blocks, ...next.blocks],
        written: next.written,
        leftOut: [...before.leftOut, ...next.leftOut],
      };
    },
    { blocks: [], written, leftOut },
  );
}

/** The signed summary at the start of a message; undefined if there is none. */
function signedSummary({ content }: Message): CompactionBlock | undefined {
  const [first] = content;
  return first?.type === "compaction" && (first.signature ?? "") !== "" ? first : undefined;
}

/** As plain text in a user message: the summary, then the rest of the message. */
function toPlainSummary(
  { role, content: [, ...rest] }: Message,
  { content }: CompactionBlock,
  reason: string,
): { readonly messages: readonly Message[]; readonly leftOut: readonly LeftOut[] } {
  const text = content ?? "";
  const summary: Message = {
    role: "user",
    content: [{ type: "text", text: `${label}\n\n${text}` }],
  };
  const others: readonly Message[] = rest.length === 0 ? [] : [{ role, content: rest }];
  return text.trim() === ""
    ? { messages: others, leftOut: [{ what: "a block of type compaction", reason }] }
    : { messages: [summary, ...others], leftOut: [{ what: "the seal of a compaction", reason }] };
}

const label =
  "Summary of the conversation before this point. It is background, not a request of the user.";

function withBeta(written: Written, beta: string): Written {
  return { ...written, betas: [...new Set([...(written.betas ?? []), beta])] };
}

function spellOpen(message: Message, written: Written): Spelled {
  const role = wireRoleOf(message.role);
  const { pieces, leftOut } = spellContent(message);
  const blocks = pieces.map(({ json, kind, mayCarryMarker, block }, index): SpelledBlock => {
    const opening = index === 0 ? openingOf(role, written) : ",";
    return {
      json: opening + json,
      markerFromEnd: mayCarryMarker ? 1 : null,
      kind,
      role,
      endsMessage: index === pieces.length - 1,
      content: [block],
    };
  });
  if (blocks.length === 0) return { blocks, written, leftOut };
  return { blocks, written: advance(written, role, message, blocks.length), leftOut };
}

/** Tool results go into user messages. */
function wireRoleOf(role: Role): WireRole {
  return role === "tool" ? "user" : role;
}

/** The text before a role's first block. A system message is always separate. */
function openingOf(role: WireRole, written: Written): string {
  if (written.openRole === role && role !== "system") return ",";
  return `${closingOf(written)}{"role":"${role}","content":[`;
}

function closingOf({ openRole, blockCount }: Written): string {
  if (openRole !== null) return "]},";
  return blockCount === 0 ? "" : ",";
}

function advance(
  written: Written,
  openRole: WireRole | null,
  { role }: Message,
  blocks: number,
): Written {
  return { ...written, openRole, lastRole: role, blockCount: written.blockCount + blocks };
}

/** The whole message as one closed block. A marker would have to go inside, so it carries none. */
function spellVerbatim(message: Message, json: JsonText, written: Written): Spelled {
  const fields = parseFields(json);
  if (fields === undefined) return leaveOut("it is not a JSON object", written);
  const clears = Object.hasOwn(fields, "clear_at");
  const repaired = repairCharacters(withoutMarkers(json));
  const block: SpelledBlock = {
    json: closingOf(written) + repaired.json,
    markerFromEnd: null,
    kind: clears ? "system message cleared at the next user message" : "text",
    role: "system",
    endsMessage: true,
    content: message.content,
    ...(clears ? { clearsAfterTurn: true } : {}),
  };
  const next = advance(written, null, message, 1);
  return {
    blocks: [block],
    written: clears ? withBeta(next, clearAtBeta) : next,
    leftOut: repaired.count === 0 ? [] : [repairOf("a system message", repaired.count)],
  };
}

function spellCleared(content: Message["content"], written: Written): Spelled {
  const bare: Message = { role: "system", content };
  const json = `${spellMessage(bare).slice(0, -1)},"clear_at":"next_user_message"}`;
  const message = { ...bare, json };
  return { ...spellVerbatim(message, json, written), message };
}
