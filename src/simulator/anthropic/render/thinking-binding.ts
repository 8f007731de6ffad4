// Thinking sent back: which blocks the model still sees, and whether the conversation before them changed.
import { shortHash } from "../../ids.ts";
import { versionOf } from "../model-version.ts";
import { textOr } from "../request/read-fields.ts";
import { bindingBeta } from "../request/read-options.ts";
import type { MessagesRequest } from "../request/read-request.ts";
import { invalid, type Refusal } from "../refusal.ts";
import type { PromptUnit } from "./render-units.ts";
import { readSummarySignature, readThinkingSignature, type ThinkingOrigin } from "./signature.ts";

/** Chain hashes of the conversation so far. The next reply is bound to them. */
export interface BindingState {
  /** Tools and system. */
  readonly ground: string;
  /** Messages without thinking. */
  readonly messages: string;
  /** The last thinking block; empty before the first. */
  readonly previous: string;
}

export interface InputTransformation {
  readonly type: "thinking_dropped";
  readonly path: string;
  readonly reason: "model_binding_mismatch" | "prefix_binding_mismatch";
}

export interface Bound {
  readonly units: readonly PromptUnit[];
  readonly state: BindingState;
  readonly transformations: readonly InputTransformation[];
}

/** Removes thinking the model no longer sees. A broken binding is an error, or removes the block if the client says so. */
export function bindThinking(all: readonly PromptUnit[], request: MessagesRequest): Bound {
  const given = withoutUnseenThinking(all, request);
  let state: BindingState = { ground: "", messages: "", previous: "" };
  let isFirst = true;
  const units: PromptUnit[] = [];
  const transformations: InputTransformation[] = [];
  for (const unit of given) {
    if (!isThought(unit)) {
      units.push(unit);
      state = stepped(state, unit);
      continue;
    }
    const reason = whyUnreadable(unit, state, isFirst, request);
    isFirst = false;
    if (
      reason === "prefix_binding_mismatch" &&
      request.options.thinking?.onMismatch !== "drop_block"
    )
      throw boundElsewhere(unit, request);
    if (reason !== null)
      transformations.push({ type: "thinking_dropped", path: unit.path, reason });
    else units.push(unit);
    // A block of another model is skipped but stays in the chain: later blocks are bound to it.
    if (reason !== "prefix_binding_mismatch") state = { ...state, previous: thoughtId(unit) };
  }
  return { units, state, transformations };
}

/** The chain after one more block. */
export function stepped(
  state: BindingState,
  unit: Pick<PromptUnit, "origin" | "hash" | "type" | "json">,
): BindingState {
  if (unit.origin !== "messages") return { ...state, ground: shortHash(state.ground, unit.hash) };
  // A summary replaces the messages it was made of, so later blocks stay bound.
  const summary =
    unit.type === "compaction" ? readSummarySignature(textOr(unit.json, "signature", "")) : null;
  return { ...state, messages: summary?.messages ?? shortHash(state.messages, unit.hash) };
}

export function prefixOf({ ground, messages }: BindingState): string {
  return shortHash(ground, messages);
}

export function signatureId(signature: string): string {
  return shortHash("thought", signature);
}

export function isThought({ type }: Pick<PromptUnit, "type">): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * Older models drop earlier thinking when the user sends a new message. A request without thinking drops that of the
 * current tool turn: the provider takes it as switched off in between, which is no error.
 */
function withoutUnseenThinking(
  units: readonly PromptUnit[],
  { facts, options }: MessagesRequest,
): readonly PromptUnit[] {
  const { thinking, thinkingByDefault, stripsPriorThinking } = facts.capabilities;
  const isOff =
    options.thinking === null ? !thinkingByDefault : options.thinking.type === "disabled";
  const dropsEarlier = stripsPriorThinking && !options.keepsAllThinking;
  const dropsCurrent = thinking && isOff;
  const lastSaid = units.findLastIndex(
    ({ role, type }) => role === "user" && type !== "tool_result",
  );
  return units.filter(
    (unit, index) => !isThought(unit) || !(index > lastSaid ? dropsCurrent : dropsEarlier),
  );
}

function whyUnreadable(
  unit: PromptUnit,
  state: BindingState,
  isFirst: boolean,
  { facts }: MessagesRequest,
): InputTransformation["reason"] | null {
  const origin = originOf(unit);
  if (origin !== null && versionOf(origin.model) > versionOf(facts.id))
    return "model_binding_mismatch";
  if (!facts.capabilities.thinkingBoundToPrefix) return null;
  // Clients may remove the oldest thinking, so the first block need not follow the one it names.
  const follows = origin !== null && (isFirst || origin.previous === state.previous);
  return follows && origin.prefix === prefixOf(state) ? null : "prefix_binding_mismatch";
}

function originOf({ type, json }: PromptUnit): ThinkingOrigin | null {
  if (type !== "thinking") return null;
  return readThinkingSignature(textOr(json, "thinking", ""), textOr(json, "signature", ""));
}

function thoughtId({ json }: PromptUnit): string {
  return signatureId(textOr(json, "signature", textOr(json, "data", "")));
}

function boundElsewhere({ path, type }: PromptUnit, { betas }: MessagesRequest): Refusal {
  const field = type === "thinking" ? "signature" : "data";
  const setting =
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
  const header = betas.has(bindingBeta)
    ? ""
    : ` That setting requires the \`${bindingBeta}\` value in the \`anthropic-beta\` header.`;
  return invalid(
    `${path}: Invalid \`${field}\` in \`${type}\` block. The block is bound to a different conversation. ${setting}${header}`,
  );
}
