// Assembly + plan → the body of generateContent. Repeats the bytes of earlier calls; there are no markers to write.
import { assert } from "../../assert.ts";
import type { Assembly } from "../../assembly/assemble.ts";
import type { GrowingBytes } from "../../growing/growing-bytes.ts";
import { checkOptions } from "../check-options.ts";
import {
  leftOutNote,
  toRequest,
  type EncodedRequest,
  type EncodeNote,
} from "../encoded-request.ts";
import type { CallToEncode, PrefixToStore, StoredPrefix } from "../protocol.ts";
import { encodeOptions } from "./options.ts";
import { geminiPath, type GenerateContentRequest } from "./schema.ts";
import { contentEnd } from "./spelling.ts";

export function encodeGemini(call: CallToEncode): EncodedRequest<GenerateContentRequest> {
  const { assembly, model, options, storedPrefix } = call;
  checkOptions(options);
  const regions = encodeRegions(assembly, storedPrefix);
  const hasTools = regions.tools.length > 0;
  const { members, notes } = encodeOptions(options, model, hasTools);
  const parts: (string | Uint8Array)[] = [];
  const write = (name: string, ...value: Parts): void => {
    parts.push(`${parts.length === 0 ? "{" : ","}${JSON.stringify(name)}:`, ...value);
  };
  if (storedPrefix !== undefined) write("cachedContent", JSON.stringify(storedPrefix.name));
  if (hasTools) write("tools", '[{"functionDeclarations":[', ...regions.tools, "]}]");
  if (regions.system.length > 0) write("systemInstruction", '{"parts":[', ...regions.system, "]}");
  write("contents", "[", ...regions.contents, "]");
  for (const [name, json] of members) write(name, json);
  parts.push("}");
  return toRequest({
    path: geminiPath({ model: sentNameOf(call), stream: options.stream }),
    parts,
    notes: [...strippedMarkers(call), ...notes, ...leftOutNotes(assembly)],
  });
}

export function sentNameOf({ options, model }: Pick<CallToEncode, "options" | "model">): string {
  return options.modelName ?? model.sentAs ?? model.id;
}

/** The part of a prompt that is stored under a name: it begins as requests without one do. */
export function storedMembers({
  assembly,
  blocks,
}: Pick<PrefixToStore, "assembly" | "blocks">): Parts {
  const { toolBytes, systemBytes } = assembly.thread.foundation;
  const end = endOfStored(assembly, { blocks });
  return [
    ...region(',"tools":[{"functionDeclarations":[', toolBytes, toolBytes.length, "]}]"),
    ...region(',"systemInstruction":{"parts":[', systemBytes, systemBytes.length, "]}"),
    ...region(',"contents":[', assembly.thread.bytes, end, "]"),
  ];
}

/** Nothing for an empty one. */
function region(open: string, bytes: GrowingBytes, length: number, close: string): Parts {
  return length === 0 ? [] : [open, bytes.slice(0, length), close];
}

/** A plan for another model must not break the call. */
function strippedMarkers({ plan }: CallToEncode): readonly EncodeNote[] {
  const count = plan.markers.length + (plan.requestMarker === null ? 0 : 1);
  const detail = `${count} left out: Gemini takes no markers`;
  return count === 0 ? [] : [{ kind: "markers-stripped", detail }];
}

/** One note for all blocks of the conversation: a long one may leave out one per reply. */
function leftOutNotes({ thread, leftOut }: Assembly): readonly EncodeNote[] {
  const last = thread.leftOut.at(thread.leftOut.length - 1);
  const more = thread.leftOut.length === 1 ? "" : ` (and ${thread.leftOut.length - 1} before it)`;
  const ofThread = last === undefined ? [] : [{ what: last.what, reason: `${last.reason}${more}` }];
  return [...thread.foundation.leftOut, ...ofThread, ...leftOut].map(leftOutNote);
}

export type Parts = readonly (string | Uint8Array)[];

interface EncodedRegions {
  readonly tools: Parts;
  readonly system: Parts;
  readonly contents: Parts;
}

/** Empty if there is nothing to send. */
function encodeRegions(assembly: Assembly, stored: StoredPrefix | undefined): EncodedRegions {
  const { thread, volatile, volatilePlace } = assembly;
  const { toolBytes, systemBytes } = thread.foundation;
  const isInSystem = volatilePlace === "system-tail";
  const tail = isInSystem ? [] : bytesOf(volatile.bytes);
  const isOpen = tail.length === 0 && thread.written.openRole !== null;
  const end = isOpen ? [contentEnd] : [];
  if (stored === undefined) {
    const system = [...bytesOf(systemBytes), ...(isInSystem ? bytesOf(volatile.bytes) : [])];
    const contents = [...bytesOf(thread.bytes), ...tail, ...end];
    return { tools: bytesOf(toolBytes), system, contents };
  }
  assert(!isInSystem || volatile.bytes.length === 0, "a stored prefix has its own system text");
  const rest = [...bytesOf(thread.bytes, endOfStored(assembly, stored)), ...tail, ...end];
  return { tools: [], system: [], contents: withoutSeparator(rest) };
}

/** Where the stored part of the conversation ends in its bytes. */
function endOfStored(
  { sealed, thread }: Assembly,
  { blocks }: Pick<StoredPrefix, "blocks">,
): number {
  assert(blocks >= thread.foundation.blocks.length, "a stored prefix holds tools and system text");
  const last = sealed.at(blocks - 1);
  assert(blocks === 0 || last !== undefined, `a stored prefix of ${blocks} of ${sealed.length}`);
  return last?.region === "messages" ? last.endByte : 0;
}

/** The first content without what joins it to the one before, which may have been left open. */
function withoutSeparator([first, ...rest]: Parts): Parts {
  assert(first instanceof Uint8Array, "a message follows a stored prefix");
  const head = new TextDecoder().decode(first.subarray(0, separatorMax + contentStart.length));
  const at = head.indexOf(contentStart);
  assert(at >= 0 && at <= separatorMax, "a stored prefix ends between two messages");
  return [first.subarray(at), ...rest];
}

const contentStart = '{"role":';
const separatorMax = `${contentEnd},`.length;

function bytesOf(bytes: GrowingBytes, from = 0): Parts {
  return bytes.length <= from ? [] : [bytes.slice(from, bytes.length)];
}
