// Signatures of what the simulated model made: they say by whom and after what, and cannot be made elsewhere.
import { shortHash } from "../hash-text.ts";

/** What a thinking block remembers of its making. */
export interface ThinkingOrigin {
  readonly model: string;
  /** Everything before it but other thinking. */
  readonly prefix: string;
  /** The thinking block before it; empty for the first. */
  readonly previous: string;
}

/** What a summary stands for. */
export interface SummaryOrigin {
  /** Where the chain of messages stood when they were summarised. */
  readonly messages: string;
  readonly content: string;
}

/** As long as the thinking is: replaying a block is paid by the length of its signature. */
export function signThinking(thinking: string, origin: ThinkingOrigin): string {
  const body = encode([origin.model, origin.prefix, origin.previous]);
  const seal = shortHash("thinking", body, thinking);
  const copies = Math.ceil(thinking.length / seal.length);
  return `sim1.${body}.${seal}.${seal.repeat(copies).slice(0, thinking.length)}`;
}

/** Null where the simulator did not make this signature for this text. */
export function readThinkingSignature(thinking: string, signature: string): ThinkingOrigin | null {
  const [form, body = "", seal] = signature.split(".");
  if (form !== "sim1" || seal !== shortHash("thinking", body, thinking)) return null;
  const [model = "", prefix = "", previous = ""] = decode(body);
  return { model, prefix, previous };
}

export function signSummary(content: string, messages: string): string {
  const body = encode([messages, shortHash("content", content)]);
  return `sim1.${body}.${shortHash("summary", body)}`;
}

export function readSummarySignature(signature: string): SummaryOrigin | null {
  const [form, body = "", seal] = signature.split(".");
  if (form !== "sim1" || seal !== shortHash("summary", body)) return null;
  const [messages = "", content = ""] = decode(body);
  return { messages, content };
}

export function isContentOf(content: string, origin: SummaryOrigin): boolean {
  return origin.content === shortHash("content", content);
}

function encode(parts: readonly string[]): string {
  return Buffer.from(parts.join("\n")).toString("base64url");
}

function decode(body: string): readonly string[] {
  return Buffer.from(body, "base64url").toString().split("\n");
}
