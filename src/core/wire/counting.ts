// What protocols that count tokens have in common: a call's own body without what only a reply needs.
import { isCount, parseFields } from "../message/fields.ts";
import { toRequest, type EncodedRequest } from "./encoded-request.ts";
import { omitMembers } from "./omit-members.ts";

/**
 * `omitted`: members that say how a reply is made and that counting refuses. Everything else is sent as it
 * is: what adds to the prompt and cannot be counted must be refused, and not counted without it.
 */
export function toCountRequest(
  { path, pieces, headers }: EncodedRequest,
  { pathBehind, omitted }: { readonly pathBehind: string; readonly omitted: ReadonlySet<string> },
): EncodedRequest {
  return toRequest({ path: `${path}${pathBehind}`, parts: omitMembers(pieces, omitted), headers });
}

/** No prompt has no tokens: a zero is no count. */
export function readCount(body: string, member: string): number | null {
  const tokens = parseFields(body)?.[member];
  return isCount(tokens) && tokens > 0 ? tokens : null;
}
