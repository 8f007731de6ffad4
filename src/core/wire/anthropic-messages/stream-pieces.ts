// The pieces of a block in one event. Text stays as it came; nothing is joined yet.
import { type Fields } from "../../message/fields.ts";
import { escapeLoneSurrogates, memberTexts } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";
import { textOf } from "./schema.ts";

export type Piece =
  /** The block as it began, in its exact text. */
  | { readonly kind: "start"; readonly index: number; readonly json: JsonText }
  | {
      readonly kind: "delta";
      readonly index: number;
      readonly member: GrowingMember;
      readonly text: string;
    }
  | { readonly kind: "unknown"; readonly type: string };

/** Members that arrive in pieces. Input and citations are JSON text, the others plain text. */
export type GrowingMember =
  | "text"
  | "thinking"
  | "signature"
  | "input"
  | "citations"
  | "content"
  | "encrypted_content";

/** The pieces of a delta; `data` is the text of the event it came with. */
export function toPieces(index: number, delta: Fields, data: string): readonly Piece[] {
  const piece = (member: GrowingMember, text: unknown): readonly Piece[] =>
    typeof text === "string" ? [{ kind: "delta", index, member, text }] : [];
  const type = textOf(delta["type"]);
  switch (type) {
    case "text_delta":
      return piece("text", delta["text"]);
    case "thinking_delta":
      return piece("thinking", delta["thinking"]);
    case "signature_delta":
      return piece("signature", delta["signature"]);
    case "input_json_delta":
      return piece("input", delta["partial_json"]);
    case "citations_delta":
      return piece("citations", citationText(data));
    case "compaction_delta":
      return [
        ...piece("content", delta["content"]),
        ...piece("encrypted_content", delta["encrypted_content"]),
      ];
    default:
      return [{ kind: "unknown", type }];
  }
}

function citationText(data: string): JsonText | undefined {
  const delta = memberTexts(escapeLoneSurrogates(data)).get("delta");
  return delta === undefined ? undefined : memberTexts(delta).get("citation");
}
