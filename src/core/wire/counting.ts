// Shared by protocols that count tokens: the body of a call without the members that only a reply needs.
import { isCount, parseFields } from "../message/fields.ts";
import { toRequest, type EncodedRequest } from "./encoded-request.ts";
import { omitMembers } from "./omit-members.ts";

/**
 * `omitted`: members that only affect the reply and that counting refuses. Everything else is sent unchanged: the
 * provider must refuse a part of the prompt that it cannot count, instead of counting without it.
 */
export function toCountRequest(
  { path, pieces, headers }: EncodedRequest,
  { pathBehind, omitted }: { readonly pathBehind: string; readonly omitted: ReadonlySet<string> },
): EncodedRequest {
  return toRequest({ path: `${path}${pathBehind}`, parts: omitMembers(pieces, omitted), headers });
}

/** Every prompt has tokens, so zero is not a valid count. */
export function readCount(body: string, member: string): number | null {
  const tokens = parseFields(body)?.[member];
  return isCount(tokens) && tokens > 0 ? tokens : null;
}
