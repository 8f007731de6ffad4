// Sealing makes a message's bytes, key and token count once, so that a call only pays for what is new.
import { emptyPrefixKey, extendPrefixKey, hashContent, type ContentHash } from "../hash.ts";
import { encodeMessage } from "./encode-message.ts";
import { escapeLoneSurrogates } from "./json-text.ts";
import type { JsonText, Message } from "./message.ts";

export interface SealedMessage {
  /** Equal keys mean equal bytes. */
  readonly key: ContentHash;
  readonly tokens: number;
  /** UTF-8 of the encoded message. */
  readonly wire: Uint8Array;
}

export interface Sealing {
  count(message: Message): number;
  /** The provider's spelling. Default: our canonical one. */
  encode?(message: Message): JsonText;
}

const utf8 = new TextEncoder();

export function sealMessage(message: Message, sealing: Sealing): SealedMessage {
  const text = sealing.encode?.(message) ?? encodeMessage(message);
  const wire = utf8.encode(escapeLoneSurrogates(text));
  return { key: hashContent(wire), tokens: sealing.count(message), wire };
}

/**
 * A conversation up to one message. Appending shares everything before it, so it costs the same after
 * ten messages as after ten thousand.
 */
export interface SealedPrefix {
  /** Chained over every message's key: equal keys mean equal prefixes. */
  readonly key: ContentHash;
  readonly tokens: number;
  readonly bytes: number;
  readonly length: number;
  readonly last?: SealedMessage;
  readonly before?: SealedPrefix;
}

export const emptyPrefix: SealedPrefix = { key: emptyPrefixKey, tokens: 0, bytes: 0, length: 0 };

export function appendSealed(prefix: SealedPrefix, sealed: SealedMessage): SealedPrefix {
  return {
    key: extendPrefixKey(prefix.key, sealed.key),
    tokens: prefix.tokens + sealed.tokens,
    bytes: prefix.bytes + sealed.wire.length,
    length: prefix.length + 1,
    last: sealed,
    before: prefix,
  };
}

/** The sealed messages of a prefix, first to last. */
export function sealedMessages(prefix: SealedPrefix): SealedMessage[] {
  const messages: SealedMessage[] = [];
  for (let at: SealedPrefix | undefined = prefix; at?.last !== undefined; at = at.before) {
    messages.push(at.last);
  }
  return messages.toReversed();
}
