// Finds a block in the bytes of a body: an object with its members, or a plain text.
import { arrayItems, objectMembers, rootSpan, type Span } from "../../core/message/json-text.ts";
import type { BodyBytes } from "../observe/body-bytes.ts";
import type { ScannedBody } from "../observe/scan-body.ts";

/** Offsets in the bytes of the body. */
export interface ObjectPlace extends Span {
  readonly kind: "object";
  readonly members: readonly MemberPlace[];
}

export interface MemberPlace {
  readonly name: string;
  readonly value: Span;
}

/** `member`: set if it is the whole value of that member of the body. */
export interface TextPlace extends Span {
  readonly kind: "text";
  readonly member: string | null;
}

export type Place = ObjectPlace | TextPlace;

/** Null for a path that the body does not have, or that can be read in two ways. */
export function findPlace({ bytes, members }: ScannedBody, path: string): Place | null {
  const [name = "", index = "", ...rest] = path.split(".");
  const member = members.get(name);
  if (member === undefined) return null;
  if (member.items === null) {
    const isText = bytes.at(member.start) === quote;
    return isText && index === "0" && rest.length === 0
      ? { kind: "text", start: member.start, end: member.end, member: name }
      : null;
  }
  const [start, end] = [member.items.starts[Number(index)], member.items.ends[Number(index)]];
  if (start === undefined || end === undefined) return null;
  return walk(bytes, { start: member.start + start, end: member.start + end }, rest);
}

const quote = 0x22;

/** One character per byte, so that offsets in text and bytes are equal. Outside of strings JSON is ASCII. */
function walk(bytes: BodyBytes, { start, end }: Span, path: readonly string[]): Place | null {
  const source = bytes.text(start, end, "latin1");
  let span = rootSpan(source);
  for (const [at, step] of path.entries()) {
    const next = stepInto(source, span, step);
    if (next === undefined) {
      // A plain text means a list with one part.
      const isText = source[span.start] === '"' && step === "0" && at === path.length - 1;
      return isText ? { kind: "text", ...shifted(span, start), member: null } : null;
    }
    span = next;
  }
  if (source[span.start] !== "{") return null;
  const members = objectMembers(source, span);
  if (new Set(members.map(({ key }) => key)).size < members.length) return null;
  return {
    kind: "object",
    ...shifted(span, start),
    members: members.map(({ key, value }) => ({ name: key, value: shifted(value, start) })),
  };
}

function stepInto(source: string, span: Span, step: string): Span | undefined {
  if (source[span.start] === "[") return arrayItems(source, span)[Number(step)];
  const named = objectMembers(source, span).filter(({ key }) => key === step);
  return named.length === 1 ? named[0]?.value : undefined;
}

function shifted({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}
