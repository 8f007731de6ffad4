// A prompt that we sent ourselves, in the form in which prompts are compared. Built only after a call read too little.
import type { Assembly } from "../../assembly/assemble.ts";
import type { SealedBlock } from "../../assembly/sealed-block.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { GrowingBytes } from "../../growing/growing-bytes.ts";
import { hashContent } from "../../hash.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { ForeignBlock, ForeignRequest } from "../../wire/foreign/foreign-request.ts";
import type { CallTraits } from "./call-traits.ts";

/** Holds references: it shares blocks and bytes with the calls before and after it. */
export interface SentPrompt {
  readonly assembly: Assembly;
  readonly plan: CachePlan;
  readonly model: ModelFacts;
  readonly traits: CallTraits;
}

/** The same prompt as a client's request; `length` cuts it off after so many blocks. */
export function toForeign(prompt: SentPrompt, length: number = Infinity): ForeignRequest {
  const { assembly, plan, model, traits } = prompt;
  const { sealed } = assembly;
  const blocks: ForeignBlock[] = [];
  const starts = new Map<SealedBlock["region"], number>();
  let messages = 0;
  for (let index = 0; index < Math.min(sealed.length, length); index += 1) {
    const block = sealed.at(index);
    if (block === undefined) break;
    const { region, endByte, endsMessage } = block;
    const json = utf8.decode(bytesOf(assembly, region).slice(starts.get(region) ?? 0, endByte));
    starts.set(region, endByte);
    blocks.push(toBlock(block, index, json, nameOf(block, index, messages, assembly)));
    if (region === "messages" && endsMessage) messages += 1;
  }
  const hasImages = blocks.some(({ kind }) => kind === "image");
  return {
    protocol: "",
    model: model.id,
    blocks,
    markers: plan.markers
      .filter(({ block }) => block < blocks.length)
      .map(({ block, lifetime }) => ({ block, lifetime, path: pathOf(block) })),
    requestMarker: plan.requestMarker,
    strayMarkers: [],
    mode: plan.mode ?? "implicit",
    ownLifetime: null,
    settings: {
      ...(plan.cacheKey === null ? {} : { "cache key": plan.cacheKey }),
      ...traits.settings,
      ...(hasImages ? { "images appear or vanish": "images" } : {}),
    },
    keepsThinking: traits.keepsThinking,
    continues: false,
  };
}

const utf8 = new TextDecoder();

/** A block's path is its index. */
function pathOf(index: number): string {
  return String(index);
}

function toBlock(block: SealedBlock, index: number, json: string, section: string): ForeignBlock {
  const { key, tokens, endTokens, kind, role, endsMessage, mayCarryMarker, region } = block;
  const text = textOf(json, kind);
  // Volatile text at the end of the system prompt is system text for the provider.
  const tier = region === "tools" ? "T0" : role === "system" && region !== "messages" ? "T1" : "T3";
  return {
    key,
    tokens,
    endTokens,
    tier,
    kind,
    role,
    endsMessage,
    mayCarryMarker,
    hash: hashContent(`${role}\n${kind}\n${text}`),
    path: pathOf(index),
    section,
    text,
  };
}

function bytesOf(
  { thread, volatile }: SentPrompt["assembly"],
  region: SealedBlock["region"],
): GrowingBytes {
  switch (region) {
    case "tools":
      return thread.foundation.toolBytes;
    case "system":
      return thread.foundation.systemBytes;
    case "messages":
      return thread.bytes;
    case "volatile":
      return volatile.bytes;
  }
}

/** For people: the tool, the label of a system block, or the message and what it is in it. */
function nameOf(
  { region, label, role, kind }: SealedBlock,
  index: number,
  messages: number,
  { thread }: SentPrompt["assembly"],
): string {
  if (region === "tools") return `tool ${thread.foundation.tools[index]?.name ?? index}`;
  if (region === "system") return label ?? "system text";
  if (region === "volatile") return label ?? "volatile text";
  const message = `${role} message ${messages}`;
  return kind === "text" ? message : `${kind.replace("_", " ")} in ${message}`;
}

/** Plain text as it is; everything else as the JSON that was sent, without what joins it to the block before. */
function textOf(json: string, kind: SealedBlock["kind"]): string {
  const isText = kind === "text" || kind === "system text";
  if (!isText) return withoutJoint(json);
  const start = startOf(json, "text") ?? startOf(json, "content") ?? 0;
  return stringFrom(json, start) ?? withoutJoint(json);
}

function withoutJoint(json: string): string {
  return json.replace(/^[\]},]*/, "");
}

/** Where the first member of this name begins, if it is a string. Inside strings the name would be escaped. */
function startOf(json: string, name: string): number | null {
  const member = json.indexOf(`"${name}":"`);
  return member === -1 ? null : member + name.length + 4;
}

/**
 * From inside a string to its end, or to the end of the block: where a server takes one string only, the blocks are parts of it, and
 * all but the first begin within it.
 */
function stringFrom(json: string, start: number): string | null {
  let end = start;
  while (end < json.length && json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
  const isWithin = start > 0 || end === json.length || json.slice(end) === '"}';
  return isWithin ? String(JSON.parse(`"${json.slice(start, end)}"`)) : null;
}
