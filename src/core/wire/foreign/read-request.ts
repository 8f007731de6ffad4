// Any client's request body → blocks, markers and settings. The body itself is not changed.
import { hashContent } from "../../hash.ts";
import { findModel } from "../../models/resolve-model.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { StrataError } from "../../strata-error.ts";
import { lengthCounter, type TokenCounter } from "../../tokens/token-counter.ts";
import type { ProtocolName } from "../protocol.ts";
import { readMessagesShape } from "../anthropic-messages/read-foreign.ts";
import {
  chainBlocks,
  type BlockDraft,
  type ForeignMarker,
  type ForeignRequest,
  type LooseBlock,
  type ReadShape,
} from "./foreign-request.ts";
import { memberOf, parseJsonTree, textOf, type JsonObject } from "../../message/json-tree.ts";
import { readChatShape } from "../openai/chat/read-foreign.ts";
import { readResponsesShape } from "../openai/responses/read-foreign.ts";
import { recogniseProtocol } from "./recognise-protocol.ts";

export interface ReadOptions {
  /** By length where absent: replies tell exact counts anyway. */
  readonly counter?: TokenCounter;
  /** Where the caller knows it from the path of the request; else the body tells. */
  readonly protocol?: ProtocolName;
  /** Of the model; looked up by its name where absent. */
  readonly facts?: Pick<ModelFacts, "capabilities">;
}

/** Understands a body of the Messages, Chat Completions or Responses API; anything else is an error. */
export function readRequest(body: string, options: ReadOptions = {}): ForeignRequest {
  const root = parseJsonTree(body, "the request body");
  const protocol = options.protocol ?? recogniseProtocol(root);
  if (root.kind !== "object" || protocol === null) throw unknownShape();
  const model = textOf(root, "model") ?? "";
  const shape = readShape(root, protocol, model, options);
  const { drafts, ...rest } = shape;
  return { protocol, model, ...toBlocks(drafts, options.counter ?? lengthCounter), ...rest };
}

function readShape(
  root: JsonObject,
  protocol: ProtocolName,
  model: string,
  { facts }: ReadOptions,
): ReadShape {
  const needed = protocol === "openai-responses" ? "input" : "messages";
  if (protocol !== "openai-responses" && memberOf(root, needed)?.kind !== "list") {
    throw unknownShape();
  }
  switch (protocol) {
    case "anthropic-messages": {
      const known = facts ?? findModel(model)?.facts;
      return readMessagesShape(root, {
        thinksAlways: known?.capabilities.thinkingAlwaysOn === true,
      });
    }
    case "openai-chat":
      return readChatShape(root);
    case "openai-responses":
      return readResponsesShape(root);
  }
}

function unknownShape(): StrataError {
  return new StrataError(
    "input-invalid",
    "the body is no request that Strata can read",
    'give a JSON object with "messages" (Messages, Chat Completions) or "input" (Responses)',
  );
}

function toBlocks(
  drafts: readonly BlockDraft[],
  counter: TokenCounter,
): Pick<ForeignRequest, "blocks" | "markers"> {
  const markers: ForeignMarker[] = [];
  const blocks = drafts.map((draft, block): LooseBlock => {
    const { path, section, tier, role, kind, text, endsMessage, mayCarryMarker } = draft;
    for (const marker of draft.markers) markers.push({ block, ...marker });
    return {
      hash: hashContent(`${role}\n${nameOf(draft)}\n${text}`),
      tokens: countDraft(draft, counter),
      tier,
      kind,
      role,
      endsMessage,
      mayCarryMarker,
      path,
      section,
      text,
      ...(role === "system" && tier === "T1" ? { label: section } : {}),
    };
  });
  return { blocks: chainBlocks(blocks), markers };
}

/** Plain text and JSON of other blocks could be spelled alike. */
function nameOf({ kind }: BlockDraft): string {
  return kind === "empty text" || kind === "system text" ? "text" : kind;
}

function countDraft({ counted, text }: BlockDraft, counter: TokenCounter): number {
  if (counted === null) return 0;
  return counted === undefined
    ? counter.text(text)
    : counter.message({ role: "user", content: [counted] });
}
