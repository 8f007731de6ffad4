// strata explain: why a request, or the calls of a recorded session, read less from the cache than they could have.
import { readFileSync } from "node:fs";
import { explainMiss } from "../../core/diagnosis/explain-miss.ts";
import type { ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { noUsage, type Usage } from "../../core/message/usage.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { createTokenCounter } from "../../core/tokens/token-counter.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { explanationToJson, renderExplanation } from "./render-explanation.ts";

/** Two bodies are compared; one operand is a transcript. */
export const run: CommandBody = async (input, io) => {
  if (input.operands.length > 1) return explainPair(input, io);
  // The transcript readers are large, and two bodies do not need them.
  const { explainTranscript } = await import("./explain-transcript.ts");
  return explainTranscript(input, io);
};

function explainPair(input: CommandInput, io: Io): number {
  refuseTranscriptOptions(input);
  const [previousFile = "", currentFile = ""] = input.operands;
  const previousBody = readBody(previousFile);
  const currentBody = readBody(currentFile);
  const named = input.values.get("model") ?? readIn(currentFile, currentBody).model;
  if (named === "") throw unnamed(currentFile);
  const { facts } = resolveModel(named, readCatalogue(input.values.get("models")));
  const counter = createTokenCounter(cheapCounter, facts.tokenizer);
  const current = readIn(currentFile, currentBody, { counter, facts });
  const usage = usageOf(input, facts, current);
  const explanation = explainMiss({
    previous: readIn(previousFile, previousBody, { counter, facts }),
    current,
    usage,
    rules: facts,
    timing: { gapMs: gapOf(input) * 1000, startMs: Date.now() },
  });
  io.out(
    input.switches.has("json")
      ? `${JSON.stringify(explanationToJson(explanation), undefined, 2)}\n`
      : renderExplanation(explanation, { isReported: usage !== null }),
  );
  return 0;
}

/** Bodies of Gemini, Bedrock and Vertex: the model stands in the address. */
function unnamed(file: string): StrataError {
  return new StrataError(
    "usage",
    `${file} names no model`,
    "say which one was asked with --model, as --model gemini-3.8-flash",
  );
}

function refuseTranscriptOptions({ values, switches }: CommandInput): void {
  const given = ["call", "excerpts", "session", "store"].find(
    (name) => values.has(name) || switches.has(name),
  );
  if (given === undefined) return;
  throw new StrataError(
    "usage",
    `--${given} is for a transcript, and these are two request bodies`,
    given === "call"
      ? "leave it out, or name one transcript"
      : "leave it out: for two bodies the first difference is always shown",
  );
}

function readBody(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new StrataError(
      "input-invalid",
      `${file} cannot be read: ${messageOf(cause)}`,
      "name a file with the body of a request",
      { cause },
    );
  }
}

function readIn(
  file: string,
  body: string,
  options: Parameters<typeof readRequest>[1] = {},
): ForeignRequest {
  try {
    return readRequest(body, options);
  } catch (error) {
    if (!(error instanceof StrataError)) throw error;
    throw new StrataError(error.code, `${file}: ${error.message}`, error.hint, { cause: error });
  }
}

/** The default: a human pace, far below every lifetime. */
const defaultGapSeconds = 30;

function gapOf(input: CommandInput): number {
  const text = input.values.get("gap");
  if (text === undefined) return defaultGapSeconds;
  const seconds = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new StrataError(
    "usage",
    `--gap is ${JSON.stringify(text)}, which is not a number of seconds`,
    "write it like --gap 600",
  );
}

/** Read, written and uncached tokens; missing ones follow from the length of the prompt. */
function usageOf(input: CommandInput, facts: ModelFacts, current: ForeignRequest): Usage | null {
  const text = input.values.get("usage");
  if (text === undefined) return null;
  const counts = text
    .split(",")
    .map((part) => (/^\d{1,12}$/.test(part.trim()) ? Number(part) : -1));
  const [read = -1, written = 0, uncached] = counts;
  if (counts.length > 3 || counts.includes(-1)) {
    throw new StrataError(
      "usage",
      `--usage is ${JSON.stringify(text)}, which is not READ,WRITTEN,UNCACHED`,
      "write tokens as the provider reported them, like --usage 0,51200,812",
    );
  }
  const lifetime = current.markers.at(-1)?.lifetime ?? facts.cache.lifetimes[0]?.lifetime ?? "5m";
  const total = current.blocks.at(-1)?.endTokens ?? 0;
  return {
    ...noUsage,
    cacheReadTokens: read,
    cacheWriteTokens: written === 0 ? {} : { [lifetime]: written },
    uncachedTokens: uncached ?? Math.max(0, total - read - written),
  };
}
