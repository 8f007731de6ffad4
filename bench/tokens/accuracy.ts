// Error of the estimates for tokens appended between two calls, using only earlier data.
import { basename } from "node:path";
import type { Role } from "../../src/core/message/message.ts";
import { generatedTokens, promptTokens } from "../../src/core/message/usage.ts";
import {
  calibrate,
  type Calibration,
  learn,
  uncalibrated,
} from "../../src/core/tokens/calibration.ts";
import { estimateTokens } from "../../src/core/tokens/estimate.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import type { Tokenizer } from "../../src/core/models/model-facts.ts";
import {
  addRawCounts,
  countMessage,
  noRawCount,
  type RawCount,
} from "../../src/core/tokens/raw-count.ts";
import { recordingsIn } from "../../harness/traces.ts";
import { readSession, type TraceRequest } from "./trace-reader.ts";

/** Smaller differences are mostly message envelopes. */
const deltaTokensMin = 200;

export interface Accuracy {
  readonly family: "claude" | "openai" | "other";
  /** |estimate - billed| / billed for the appended messages. */
  readonly cold: number;
  /** The same, with the reply's tokens estimated instead of taken from its usage. */
  readonly contentOnly: number;
  readonly calibrated: number;
  /** |estimate - billed| / billed for the whole prompt. */
  readonly anchoredTotal: number;
}

export interface AccuracyReport {
  readonly results: readonly Accuracy[];
  /** Requests not measured, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly sessions: number;
}

/** Calibrations restart in every session and are per model. */
export async function measureAccuracy(
  folder: string,
  counter: TextCounter,
  progress: (line: string) => void,
): Promise<AccuracyReport> {
  const results: Accuracy[] = [];
  const skipped: Record<string, number> = {};
  const files = recordingsIn(folder);
  for (const [place, file] of files.entries()) {
    if (place % 10 === 0) progress(`session ${place + 1} of ${files.length}: ${basename(file)}`);
    const session = createSession(counter);
    // One session at a time: they are large, and order within each matters.
    // oxlint-disable-next-line no-await-in-loop
    for await (const request of readSession(file)) {
      const outcome = session(request);
      if (typeof outcome === "string") skipped[outcome] = (skipped[outcome] ?? 0) + 1;
      else results.push(outcome);
    }
  }
  return { results, skipped, sessions: files.length };
}

interface CountedMessage {
  readonly role: Role;
  readonly count: RawCount;
}

/** The last call with a bill. */
interface Previous {
  readonly model: string;
  readonly messageCount: number;
  readonly promptTokens: number;
  readonly replyTokens: number;
}

/** Takes requests in order; returns the measurement, or why there is none. */
function createSession(counter: TextCounter): (request: TraceRequest) => Accuracy | string {
  let messages: CountedMessage[] = [];
  let previous: Previous | undefined;
  const calibrations = new Map<string, Calibration>();

  return (request) => {
    const rewritten = request.keep < messages.length;
    messages = messages.slice(0, request.keep);
    for (const message of request.appended) {
      messages.push({ role: message.role, count: countMessage(message, counter) });
    }
    const last = previous;
    const { model, usage } = request;
    previous =
      usage === null
        ? undefined
        : {
            model,
            messageCount: messages.length,
            promptTokens: promptTokens(usage),
            replyTokens: generatedTokens(usage),
          };
    const reason = reasonToSkip(request, last, rewritten);
    if (reason !== undefined) return reason;
    if (last === undefined || usage === null) return "no usage before";
    const billed = promptTokens(usage) - last.promptTokens;
    const generation = generationOf(model);
    const appended = splitAppended(messages.slice(last.messageCount), last.replyTokens, generation);
    const calibration = calibrations.get(model) ?? uncalibrated;
    const billedTokens = billed - appended.knownTokens;
    if (billedTokens > 0) {
      const observation = { estimatedTokens: appended.estimatedTokens, billedTokens };
      calibrations.set(model, learn(calibration, observation));
    }
    if (billed <= deltaTokensMin) return `appended ${deltaTokensMin} tokens or fewer`;
    const contentOnly = splitAppended(messages.slice(last.messageCount), 0, generation);
    const errorWith = ({ knownTokens, estimatedTokens }: Appended, use: Calibration): number =>
      Math.abs(knownTokens + calibrate(estimatedTokens, use) - billed);
    return {
      family: familyOf(model),
      cold: errorWith(appended, uncalibrated) / billed,
      contentOnly: errorWith(contentOnly, uncalibrated) / billed,
      calibrated: errorWith(appended, calibration) / billed,
      anchoredTotal: errorWith(appended, calibration) / promptTokens(usage),
    };
  };
}

interface Appended {
  readonly knownTokens: number;
  readonly estimatedTokens: number;
}

/**
 * A streamed reply sometimes reports the usage of its first event: one to a few tokens. A count below
 * this share of our own estimate is taken for that error.
 */
const plausibleShare = 0.6;

/** The reply's own usage gives its count; the rest is estimated. */
function splitAppended(
  appended: readonly CountedMessage[],
  replyTokens: number,
  generation: Tokenizer,
): Appended {
  const [first] = appended;
  const isKnown =
    first?.role === "assistant" &&
    replyTokens > 0 &&
    replyTokens >= plausibleShare * estimateTokens(first.count, generation);
  const unknown = isKnown ? appended.slice(1) : appended;
  const count = unknown.reduce((sum, message) => addRawCounts(sum, message.count), noRawCount);
  return {
    knownTokens: isKnown ? replyTokens : 0,
    estimatedTokens: estimateTokens(count, generation),
  };
}

function reasonToSkip(
  request: TraceRequest,
  last: Previous | undefined,
  rewritten: boolean,
): string | undefined {
  if (request.usage === null) return "no usage";
  if (last === undefined) return "no usage before";
  if (rewritten) return "history rewritten";
  if (request.overheadChanged) return "system or tools changed";
  return request.model === last.model ? undefined : "model changed";
}

function familyOf(model: string): Accuracy["family"] {
  if (model.startsWith("claude")) return "claude";
  return model.startsWith("gpt") ? "openai" : "other";
}

/** By name, because the model table is not under test here. */
function generationOf(model: string): Tokenizer {
  const family = familyOf(model);
  if (family === "openai") return "o200k";
  if (family === "other") return "other";
  const [, major = "0", minor = "0"] = /^claude-[a-z]+-(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? [];
  return Number(major) * 10 + Number(minor) >= 47 ? "claude-new" : "claude-old";
}
