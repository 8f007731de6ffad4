// Assembly + plan → the body of a request in either OpenAI protocol.
import type { Lifetime } from "../../message/usage.ts";
import { checkOptions } from "../check-options.ts";
import { leftOutNote, type EncodedRequest } from "../encoded-request.ts";
import * as body from "./body.ts";
import { encodeCachePlan } from "./cache.ts";
import { askedSettings, type SettingWords } from "./settings.ts";
import type { CallToEncode } from "../protocol.ts";

/** Names that differ between the two protocols. */
export interface BodyWords extends SettingWords {
  readonly path: string;
  /** The names of the members for the reply limit and the messages. */
  readonly outputTokensMax: string;
  readonly messages: string;
  /** The lifetimes to ask for; the first is the protocol's default. */
  readonly lifetimes: readonly [Lifetime, ...Lifetime[]];
  /** Whether the server takes `prompt_cache_key`. */
  readonly takesCacheKey: boolean;
  /** Asks for no reply: the prompt is only cached. */
  readonly isPrewarm?: boolean;
  /** The form of the reply, and other members that only this protocol has. */
  ownMembers(call: CallToEncode): readonly body.Member[];
}

export function encodeOpenai<Body>(call: CallToEncode, words: BodyWords): EncodedRequest<Body> {
  const { assembly, model, options } = call;
  checkOptions(options);
  const cache = encodeCachePlan(call, words);
  const asked = askedSettings(call, words);
  const members: readonly body.Member[] = [
    body.content("model", JSON.stringify(options.modelName ?? model.id)),
    body.setting(words.outputTokensMax, String(options.outputTokensMax)),
    ...words.ownMembers(call),
    ...body.toolsMember(assembly),
    body.content(words.messages, ...body.writeMessages(assembly, cache.markers)),
    ...cache.members,
    ...asked.members,
  ];
  const notes = [
    ...cache.notes,
    ...asked.notes,
    ...body.leftOutNotes(assembly),
    ...assembly.leftOut.map(leftOutNote),
  ];
  return body.toBody({ path: words.path, members, extraJson: options.extraJson, notes });
}
