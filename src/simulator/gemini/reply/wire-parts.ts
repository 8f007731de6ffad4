// A reply's parts as the client gets them, with their thought signatures.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { hashText } from "../../ids.ts";
import { piecesOf } from "../../reply-text.ts";
import { signThought, type SignatureOwner } from "../signature.ts";
import type { Produced, ProducedPart } from "./produce.ts";

/** One part on the wire. Its tokens are those that the client sees counted once it has arrived. */
export interface WirePart {
  readonly kind: "text" | "thought" | "call";
  readonly text: string;
  /** The call that the part is; null for text. */
  readonly call: {
    readonly id: string | null;
    readonly name: string;
    readonly argsJson: string;
  } | null;
  readonly signature: string | null;
  readonly tokens: number;
}

export interface Signing {
  readonly owner: SignatureOwner;
  readonly facts: ModelFacts;
  readonly responseId: string;
  readonly showsThoughts: boolean;
  readonly newId: (prefix: string) => string;
}

export function toWireParts(
  { parts, thinkingTokens }: Produced,
  signing: Signing,
): readonly WirePart[] {
  const shown = parts.filter(({ kind }) => kind !== "thinking" || signing.showsThoughts);
  const wire = shown.map((part) => toWirePart(part, signing));
  const signature = makeSignature(parts, signing);
  const call = wire.findIndex(({ kind }) => kind === "call");
  const insists = signing.facts.capabilities.signedToolCalls;
  if (call !== -1) {
    // Models that do not insist on signatures send them with thinking alone.
    return insists || thinkingTokens > 0 ? withSignature(wire, call, signature) : wire;
  }
  if (!insists || wire.length === 0) return wire;
  const last = wire.length - 1;
  if (thinkingTokens === 0) return withSignature(wire, last, signature);
  // A reply that was thought about ends with an empty part that only carries the signature.
  return [...wire, { kind: "text", text: "", call: null, signature, tokens: 0 }];
}

function toWirePart(part: ProducedPart, { facts, newId }: Signing): WirePart {
  const { tokens } = part;
  if (part.kind !== "call") {
    const kind = part.kind === "thinking" ? "thought" : "text";
    return { kind, text: part.text, call: null, signature: null, tokens };
  }
  const { name, argsJson } = part;
  const id = facts.capabilities.signedToolCalls ? newId("").slice(-8).toLowerCase() : null;
  return { kind: "call", text: "", call: { id, name, argsJson }, signature: null, tokens };
}

function makeSignature(parts: readonly ProducedPart[], signing: Signing): string {
  const thoughts = parts.filter(({ kind }) => kind === "thinking");
  const characters = thoughts.reduce(
    (sum, part) => sum + (part.kind === "thinking" ? part.text.length : 0),
    0,
  );
  const words = hashText(signing.responseId, JSON.stringify(parts));
  return signThought(words, characters, signing.owner);
}

function withSignature(
  parts: readonly WirePart[],
  at: number,
  signature: string,
): readonly WirePart[] {
  return parts.map((part, index) => (index === at ? { ...part, signature } : part));
}

/** Cuts text for a stream. A signature is sent once, with the first piece of its part. */
export function toPieces(parts: readonly WirePart[]): readonly WirePart[] {
  return parts.flatMap((part) => {
    if (part.kind === "call" || part.text === "") return [part];
    const texts = piecesOf(part.text);
    let sent = 0;
    let counted = 0;
    return texts.map((text, index) => {
      sent += text.length;
      // Every piece counts by its share, so that the sum is exact at the end.
      const upTo = Math.floor((part.tokens * sent) / part.text.length);
      const tokens = upTo - counted;
      counted = upTo;
      return { ...part, text, tokens, signature: index === 0 ? part.signature : null };
    });
  });
}
