// A text or blocks counted alone. Providers count only whole requests, so they are counted after a placeholder.
import { findPolicy } from "../../core/cache/policies.ts";
import { createRequest } from "../../core/message/canonical-request.ts";
import type { Block } from "../../core/message/message.ts";
import type { ModelFacts, Tokenizer } from "../../core/models/model-facts.ts";
import { encodeCanonicalRequest } from "../../core/wire/canonical-call.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { BlockQuestion, Count, CountQuestion } from "./count.ts";

export type CountBody = (request: EncodedRequest, tokenizer?: Tokenizer) => Promise<number>;

export interface CountsToUse {
  readonly protocol: Protocol;
  readonly count: (question: CountQuestion) => Promise<Count>;
  /** By a vocabulary. */
  readonly countBody: CountBody;
}

/** What the blocks add to a message. */
export async function countAlone(
  { blocks, model, signal }: BlockQuestion,
  { protocol, count, countBody }: CountsToUse,
): Promise<Count> {
  const { tokenizer } = model;
  const [without, whole] = placeholderRequests(blocks, model, protocol);
  const about = { tokenizer, ...(signal === undefined ? {} : { signal }) };
  const alone = await count({ request: without, ...about });
  const given = await count({ request: whole, ...about });
  if (isEstimate(alone) === isEstimate(given))
    return { ...given, tokens: rest(given.tokens, alone.tokens) };
  // Counts of different kinds cannot be subtracted.
  const tokens = rest(await countBody(whole, tokenizer), await countBody(without, tokenizer));
  return { ...given, tokens, source: "estimate", exact: false };
}

function isEstimate({ source }: Count): boolean {
  return source === "estimate";
}

function rest(whole: number, without: number): number {
  return Math.max(0, whole - without);
}

/** One with a placeholder alone, and one with the blocks after it. */
function placeholderRequests(
  blocks: string | readonly Block[],
  model: ModelFacts,
  protocol: Protocol,
): readonly [without: EncodedRequest, whole: EncodedRequest] {
  const given: readonly Block[] =
    typeof blocks === "string" ? [{ type: "text", text: blocks }] : blocks;
  const placeholder: Block = { type: "text", text: "." };
  const requestOf = (content: readonly Block[]): EncodedRequest =>
    encodeCanonicalRequest(
      createRequest({
        requestId: "count",
        model: model.id,
        messages: [{ role: "user", content }],
        maxOutputTokens: 1,
      }),
      { nowMs: 0, policy: findPolicy("none"), model, protocol },
    ).request;
  return [requestOf([placeholder]), requestOf([placeholder, ...given])];
}
