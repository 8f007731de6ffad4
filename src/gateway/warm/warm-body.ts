// The body that has a provider cache a client's prompt without an answer: the client's bytes with a few members changed.
import { parseJsonTree, type JsonNode } from "../../core/message/json-tree.ts";
import type { ForeignWarming } from "../../core/wire/foreign/foreign-reader.ts";
import { BodyBytes } from "../observe/body-bytes.ts";
import { scanBody, type ScannedBody } from "../observe/scan-body.ts";
import { spliceEdits, type Edit } from "../repair/splice-edits.ts";

export interface WarmWish {
  readonly warming: ForeignWarming;
  /** The list of messages; their content is left out in favour of a placeholder if only what is before them is to be cached. */
  readonly messages: { readonly member: string; readonly isLeftOut: boolean };
}

/** Null if the provider would refuse it, or cache another prefix. */
export function toWarmBody(
  pieces: readonly Uint8Array[],
  { warming, messages }: WarmWish,
): readonly Uint8Array[] | null {
  const bytes = new BodyBytes(pieces);
  const body = scanBody(bytes, null);
  if (body === null || warming.findObstacle(withoutLists(body)) !== null) return null;
  const wanted = messages.isLeftOut
    ? [...warming.members, { name: messages.member, json: warming.placeholder, always: true }]
    : warming.members;
  const edits = wanted.flatMap(({ name, json }): Edit[] => {
    const found = body.members.get(name);
    return found === undefined ? [] : [{ start: found.start, end: found.end, text: json }];
  });
  const missing = wanted.filter(({ name, always }) => always && !body.members.has(name));
  const end = [...body.members.values()].at(-1)?.end;
  if (end === undefined) return null;
  const added = missing.map(({ name, json }) => `,${JSON.stringify(name)}:${json}`).join("");
  return spliceEdits(bytes, [...edits, { start: end, end, text: added }]).pieces;
}

/** Only settings are looked at, and they are short. */
function withoutLists({ bytes, members }: ScannedBody): {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, JsonNode>;
} {
  const read = [...members].map(([name, { start, end, items }]): [string, JsonNode] => [
    name,
    items === null
      ? parseJsonTree(bytes.text(start, end), "a member of the request")
      : { kind: "list", items: [] },
  ]);
  return { kind: "object", members: new Map(read) };
}
