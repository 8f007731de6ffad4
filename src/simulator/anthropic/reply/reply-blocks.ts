// The content blocks of a reply. The signature of thinking binds it to everything before it.
import type { ReplyPart } from "../../prompt.ts";
import type { SurfaceContext } from "../../surface.ts";
import { compactJson, jsonObject, jsonText, readJson, type JsonObject } from "../../json-source.ts";
import { signThinking } from "../render/signature.ts";
import { prefixOf, signatureId, stepped, type BindingState } from "../render/thinking-binding.ts";
import { assistantHash } from "../render/render-units.ts";

export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      /** JSON text, as generated. */
      readonly input: string;
    }
  | { readonly type: "compaction"; readonly content: string; readonly signature: string };

export function toReplyBlocks(
  parts: readonly ReplyPart[],
  start: BindingState,
  call: {
    readonly model: string;
    readonly display: string | null;
    readonly newId: SurfaceContext["newId"];
  },
): readonly ReplyBlock[] {
  let state = start;
  return parts.map((part): ReplyBlock => {
    if (part.kind === "thinking") {
      const thinking = call.display === "omitted" ? "" : part.text;
      const origin = { model: call.model, prefix: prefixOf(state), previous: state.previous };
      const signature = signThinking(thinking, origin);
      state = { ...state, previous: signatureId(signature) };
      return { type: "thinking", thinking, signature };
    }
    const block: ReplyBlock =
      part.kind === "text"
        ? { type: "text", text: part.text }
        : {
            type: "tool_use",
            id: call.newId("toolu_"),
            name: part.name,
            input: compactJson(readJson(part.inputJson)),
          };
    const json = toJson(block);
    const hash = assistantHash(json, new Map());
    state = stepped(state, { origin: "messages", hash, type: block.type, json });
    return block;
  });
}

export function blockText(block: ReplyBlock): string {
  if (block.type === "compaction")
    return JSON.stringify({
      type: "compaction",
      content: block.content,
      encrypted_content: null,
      signature: block.signature,
    });
  return block.type === "tool_use" ? compactJson(toJson(block)) : JSON.stringify(block);
}

function toJson(block: ReplyBlock): JsonObject {
  const entries = Object.entries(block).map(
    ([name, value]) =>
      [
        name,
        block.type === "tool_use" && name === "input" ? readJson(value) : jsonText(value),
      ] as const,
  );
  return jsonObject(entries);
}
