// Shared by protocols that count tokens: the body of a call without the members that only a reply needs.
import { isCount, parseFields } from "../message/fields.ts";
import { bodyText, toRequest, type RequestParts } from "./encoded-request.ts";
import type { ProtocolCounting } from "./protocol.ts";
import { memberTexts } from "../message/json-text.ts";
import { objectText } from "../message/json-tree.ts";

/**
 * `omitted`: members that only affect the reply and that counting refuses. Everything else is sent unchanged: the
 * provider must refuse a part of the prompt that it cannot count, instead of counting without it.
 */
export function createCounting(
  name: string,
  pathBehind: string,
  omitted: ReadonlySet<string>,
): ProtocolCounting {
  return {
    name,
    isAskedAt: (path) => path.includes(pathBehind),
    encode: ({ path, pieces, headers }) =>
      toRequest({ path: `${path}${pathBehind}`, parts: omitMembers(pieces, omitted), headers }),
    decode: readCount,
  };
}

/** Every prompt has tokens, so zero is not a valid count. */
export function readCount(body: string): number | null {
  const tokens = parseFields(body)?.["input_tokens"];
  return isCount(tokens) && tokens > 0 ? tokens : null;
}

/** Returns bytes that are not a JSON object unchanged: the receiver will report them. */
export function omitMembers(
  pieces: readonly Uint8Array[],
  names: ReadonlySet<string>,
): RequestParts["parts"] {
  const json = bodyText(pieces);
  if (parseFields(json) === undefined) return pieces;
  const members = [...memberTexts(json)];
  const kept = members.filter(([name]) => !names.has(name));
  return kept.length === members.length ? pieces : [objectText(kept)];
}
