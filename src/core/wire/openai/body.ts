// Body parts that both OpenAI protocols share: regions with their markers, members, notes.
import type { Assembly } from "../../assembly/assemble.ts";
import { assert } from "../../assert.ts";
import { escapeLoneSurrogates } from "../../message/json-text.ts";
import { toRequest, type EncodedRequest, type EncodeNote } from "../encoded-request.ts";
import type { CallOptions } from "../protocol.ts";
import { splice, type Insertion } from "../splice.ts";

export type BodyParts = readonly (string | Uint8Array)[];

export interface Member {
  readonly name: string;
  readonly value: BodyParts;
  /** `content`: the messages, the model and the form of the reply. `extraJson` cannot replace these. */
  readonly of: "content" | "settings";
}

export function setting(name: string, json: string): Member {
  return { name, value: [escapeLoneSurrogates(json)], of: "settings" };
}

export function content(name: string, ...value: BodyParts): Member {
  return { name, value, of: "content" };
}

/** Nothing without tools: the provider refuses an empty list. */
export function toolsMember({ thread: { foundation } }: Assembly): readonly Member[] {
  if (foundation.tools.length === 0) return [];
  return [content("tools", "[", ...splice(foundation.toolBytes, []), "]")];
}

/** The places of markers, by region. */
export type PlacedMarkers = Readonly<
  Record<"system" | "messages" | "volatile", readonly Insertion[]>
>;

/** One array: system text, then the conversation, with the volatile text at its place. */
export function writeMessages(assembly: Assembly, markers: PlacedMarkers): BodyParts {
  const { thread, volatile, volatilePlace } = assembly;
  const system = splice(thread.foundation.systemBytes, markers.system);
  const messages = splice(thread.bytes, markers.messages);
  const tail = splice(volatile.bytes, markers.volatile);
  const isBefore = volatilePlace === "system-tail";
  const before = isBefore ? addTail(system, tail) : system;
  const after = isBefore ? messages : addTail(messages, tail);
  // Each region begins without a separator.
  const separator = hasBytes(before) && hasBytes(after) ? [","] : [];
  return ["[", ...before, ...separator, ...after, "]"];
}

/**
 * The volatile text after what stands before it. It is a message of its own, or text that continues the last one: that
 * message is then opened again, whether it ends with a string or with a list of parts.
 */
function addTail(before: BodyParts, tail: BodyParts): BodyParts {
  const first = tail.find((part) => part.length > 0);
  const continues = first instanceof Uint8Array && first[0] === backslash;
  if (!continues) return [...before, ...tail];
  const last = before.at(-1);
  assert(last instanceof Uint8Array && last.length > 2, "there is no message to continue");
  const opened = [...before.slice(0, -1), last.subarray(0, -2)];
  const isList = last.at(-2) === closingBracket;
  return isList ? [...opened, ',{"type":"text","text":"', ...tail, "]}"] : [...opened, ...tail];
}

/** A JSON array's elements never begin with it; continued text always does. */
const backslash = 0x5c;
const closingBracket = 0x5d;

export interface OpenaiBody {
  readonly path: string;
  /** In their order. */
  readonly members: readonly Member[];
  /** Each replaces a setting of the same name. */
  readonly extraJson: CallOptions["extraJson"];
  readonly notes: readonly EncodeNote[];
}

export function toBody<Body = unknown>({
  path,
  members,
  extraJson,
  notes,
}: OpenaiBody): EncodedRequest<Body> {
  const extra = Object.entries(extraJson ?? {});
  const fixed = new Set(members.filter((each) => each.of === "content").map(({ name }) => name));
  const replaced = new Set(extra.map(([name]) => name));
  const written = [
    ...members.filter(({ name, of }) => of === "content" || !replaced.has(name)),
    ...extra.filter(([name]) => !fixed.has(name)).map(([name, json]) => setting(name, json)),
  ];
  const parts = written.flatMap(({ name, value }, index) => [
    `${index === 0 ? "{" : ","}${JSON.stringify(name)}:`,
    ...value,
  ]);
  const refused = extra
    .filter(([name]) => fixed.has(name))
    .map(([name]) => ignored(`the further member ${name} would replace what the call says`));
  return toRequest({ path, parts: [...parts, "}"], notes: [...notes, ...refused] });
}

export function ignored(detail: string): EncodeNote {
  return { kind: "option-ignored", detail };
}

/** Notes how many blocks the protocol could not carry; the thread lists each of them. */
export function leftOutNotes({ thread: { leftOut } }: Assembly): readonly EncodeNote[] {
  const last = leftOut.at(leftOut.length - 1);
  if (last === undefined) return [];
  const count = `${leftOut.length} ${leftOut.length === 1 ? "block" : "blocks"} left out`;
  return [{ kind: "content-left-out", detail: `${count}, the last: ${last.what}: ${last.reason}` }];
}

function hasBytes(parts: BodyParts): boolean {
  return parts.some((part) => part.length > 0);
}
