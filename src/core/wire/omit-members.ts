// Removes members from a JSON object. The values of the others keep their bytes.
import { parseFields } from "../message/fields.ts";
import { memberTexts } from "../message/json-text.ts";
import { objectText } from "../message/json-tree.ts";
import { bodyText, type RequestParts } from "./encoded-request.ts";

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
