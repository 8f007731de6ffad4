// Messages as lists of blocks that stay open until the role changes: the next message writes `]}`, or the encoder after the last one.
import type { BlockKind } from "../assembly/prompt-block.ts";
import type { LeftOut, Spelled, SpelledBlock, Written } from "../assembly/spelling.ts";
import type { Block, CompactionBlock, JsonText, Message, Role } from "../message/message.ts";
import { repairCharacters, repairOf } from "./repair-characters.ts";

/** A block in the provider's form. */
export interface ContentPiece {
  readonly json: JsonText;
  readonly kind: BlockKind;
  readonly mayCarryMarker: boolean;
  readonly block: Block;
}

/** The blocks of one message, and why the others are left out. */
export interface SpelledContent {
  readonly pieces: readonly ContentPiece[];
  readonly leftOut: readonly LeftOut[];
}

export interface MessageWords {
  /** How many bytes before a block's end its marker goes: inside its brace, or after it as a block of its own. */
  readonly markerFromEnd: 0 | 1;
  content(message: Message): SpelledContent;
}

export type WireRole = "user" | "assistant" | "system";

export function foundationBlock(
  json: JsonText,
  index: number,
  role: "tools" | "system",
  { markerFromEnd }: Pick<MessageWords, "markerFromEnd">,
): SpelledBlock {
  const repaired = repairCharacters(json);
  const what = role === "tools" ? "the tools" : "the system text";
  return {
    json: (index === 0 ? "" : ",") + repaired.json,
    markerFromEnd,
    kind: role === "tools" ? "tool definition" : "system text",
    role,
    endsMessage: false,
    content: [],
    ...(repaired.count === 0 ? {} : { leftOut: [repairOf(what, repaired.count)] }),
  };
}

/** Joins the message to one of the same role before it. */
export function spellOpen(message: Message, written: Written, words: MessageWords): Spelled {
  const role = wireRoleOf(message.role);
  const { pieces, leftOut } = words.content(message);
  const blocks = pieces.map(({ json, kind, mayCarryMarker, block }, index): SpelledBlock => {
    const opening = index === 0 ? openingOf(role, written) : ",";
    return {
      json: opening + json,
      markerFromEnd: mayCarryMarker ? words.markerFromEnd : null,
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

/** The text before a message that begins anew. */
export function closingOf({ openRole, blockCount }: Written): string {
  if (openRole !== null) return "]},";
  return blockCount === 0 ? "" : ",";
}

export function advance(
  written: Written,
  openRole: WireRole | null,
  { role }: Message,
  blocks: number,
): Written {
  return { ...written, openRole, lastRole: role, blockCount: written.blockCount + blocks };
}

/** A system message where the model takes none: a move into the system prompt would change the prefix of all sent messages. */
export const notTaken = "the model takes none among the messages";

export function leaveOut(reason: string, written: Written): Spelled {
  return { blocks: [], written, leftOut: [{ what: "a system message", reason }] };
}

/** A provider's summary at the start of a message, as plain text in a user message before the rest. */
export function spellPlainSummary(
  { message, summary, reason }: SummaryToSpell,
  written: Written,
  words: MessageWords,
): Spelled {
  const { messages, leftOut } = toPlainSummary({ message, summary, reason });
  return messages.reduce<Spelled>(
    (before, each) => {
      const next = spellOpen(each, before.written, words);
      return {
        blocks: [...before.blocks, ...next.blocks],
        written: next.written,
        leftOut: [...before.leftOut, ...next.leftOut],
      };
    },
    { blocks: [], written, leftOut },
  );
}

export interface SummaryToSpell {
  readonly message: Message;
  /** Its first block. */
  readonly summary: CompactionBlock;
  /** Why it is not sent as it came. */
  readonly reason: string;
}

function toPlainSummary({
  message: {
    role,
    content: [, ...rest],
  },
  summary,
  reason,
}: SummaryToSpell): {
  readonly messages: readonly Message[];
  readonly leftOut: readonly LeftOut[];
} {
  const text = summary.content ?? "";
  const plain: Message = {
    role: "user",
    content: [{ type: "text", text: `${label}\n\n${text}` }],
  };
  const others: readonly Message[] = rest.length === 0 ? [] : [{ role, content: rest }];
  return text.trim() === ""
    ? { messages: others, leftOut: [{ what: "a block of type compaction", reason }] }
    : { messages: [plain, ...others], leftOut: [{ what: "the seal of a compaction", reason }] };
}

const label =
  "Summary of the conversation before this point. It is background, not a request of the user.";
