// The order of calls and responses, and the thought signatures of the current turn.
import { invalid, type ApiError } from "../api-error.ts";
import { checkSignature, type SignatureOwner } from "../signature.ts";
import { partsOf, toTurns, type Content, type Part, type Turn } from "./contents.ts";

/** A call follows what a user said, and as many responses as calls follow it at once. */
export function checkOrder(contents: readonly Content[]): void {
  const turns = toTurns(contents);
  for (const [index, turn] of turns.entries()) {
    if (turn.role === "model" && index === 0 && callsOf(turn).length > 0) {
      throw invalid(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    if (turn.role === "user") checkResponses(turn, turns[index - 1]);
  }
}

function checkResponses(turn: Turn, before: Turn | undefined): void {
  const responses = partsOf(turn).filter(({ kind }) => kind === "response").length;
  const calls = before === undefined ? 0 : callsOf(before).length;
  if (responses > 0 && calls === 0) {
    throw invalid(
      "Please ensure that function response turn comes immediately after a function call turn.",
    );
  }
  if (responses !== calls) {
    throw invalid(
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    );
  }
}

function callsOf(turn: Turn): readonly Part[] {
  return partsOf(turn).filter(({ kind }) => kind === "call");
}

/** Every signature must be one of ours; in the current turn the first call of each step must have one. */
export function checkSignatures(contents: readonly Content[], owner: SignatureOwner): void {
  for (const { parts } of contents) {
    for (const { signature } of parts) {
      if (signature !== null && signature !== "") checkSignature(signature, owner);
    }
  }
  const turns = toTurns(contents);
  // What is no function response begins the current turn.
  const start = turns.findLastIndex(
    (turn) => turn.role === "user" && partsOf(turn).some(({ kind }) => kind !== "response"),
  );
  for (const step of turns.slice(start + 1)) {
    if (step.role === "model") checkStep(step);
  }
}

/** Only the first of parallel calls carries the signature. */
function checkStep({ contents }: Turn): void {
  for (const { parts, position } of contents) {
    const first = parts.find((part) => part.kind === "call");
    if (first === undefined) continue;
    if (first.signature === null || first.signature === "") {
      throw missingSignature(first.name, position);
    }
    return;
  }
}

function missingSignature(name: string, position: number): ApiError {
  return invalid(
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  );
}
