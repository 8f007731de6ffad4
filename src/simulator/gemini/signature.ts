// Thought signatures: opaque to the client, bound to the model and to the client's project.
import { hash } from "node:crypto";
import { invalid } from "./api-error.ts";
import { shortHash } from "../ids.ts";

/** Who may send a signature back. */
export interface SignatureOwner {
  readonly model: string;
  readonly workspace: string;
}

/** The provider's documents let clients put these where a signature is lost, and skip the check. */
const skipped: ReadonlySet<string> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
]);

const sealBytes = 16;
/** The seal of the bytes, and the seal of the owner. */
const headBytes = 2 * sealBytes;
const leastBytes = 48;
/** Longer thoughts do not make longer signatures beyond this. */
const mostBytes = 4_096;

/** The longer the thought, the longer its signature. The same words give the same bytes. */
export function signThought(
  words: string,
  thoughtCharacters: number,
  owner: SignatureOwner,
): string {
  const length = Math.min(mostBytes, leastBytes + Math.ceil(thoughtCharacters / 2));
  const body = fill(words, length);
  const seal = sealOf(body);
  const owned = sealOf(body, ownerWord(owner));
  return Buffer.concat([seal, owned, body]).toString("base64");
}

/** Throws the provider's error for a signature that it did not make, or made for someone else. */
export function checkSignature(signature: string, owner: SignatureOwner): void {
  if (skipped.has(signature)) return;
  const bytes = Buffer.from(signature, "base64");
  const body = bytes.subarray(headBytes);
  const isWhole =
    bytes.length >= headBytes + leastBytes && sealOf(body).equals(bytes.subarray(0, sealBytes));
  if (!isWhole) throw invalid("Corrupted thought signature.");
  const owned = sealOf(body, ownerWord(owner));
  if (!owned.equals(bytes.subarray(sealBytes, headBytes))) {
    throw invalid("Invalid thought signature.");
  }
}

function fill(words: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    hash("sha256", `${words}\n${index}`, "buffer"),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

function sealOf(body: Buffer, word = ""): Buffer {
  return hash("sha256", Buffer.concat([body, Buffer.from(word)]), "buffer").subarray(0, sealBytes);
}

function ownerWord({ model, workspace }: SignatureOwner): string {
  return shortHash("thought", model, workspace);
}
