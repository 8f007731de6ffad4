// Error of the estimates for tokens appended between two calls, using only earlier data.
import { basename } from "node:path";
import { emptyPrefixKey, extendPrefixKey, hashContent } from "../../src/core/hash.ts";
import { promptTokens, type Usage } from "../../src/core/message/usage.ts";
import {
  type Anchor,
  anchorAt,
  type CountedMessage,
  countHistory,
  type History,
  observe,
} from "../../src/core/tokens/anchor.ts";
import { type Calibration, learn, uncalibrated } from "../../src/core/tokens/calibration.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import type { Tokenizer } from "../../src/core/models/model-facts.ts";
import { countMessage, noRawCount } from "../../src/core/tokens/raw-count.ts";
import { readSession, sessionFiles, type TraceRequest } from "./trace-reader.ts";

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
  const files = sessionFiles(folder);
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

interface Previous {
  readonly model: string;
  readonly messageCount: number;
  readonly anchor: Anchor;
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
      const before = messages.at(-1)?.prefixKey ?? emptyPrefixKey;
      messages.push({
        role: message.role,
        prefixKey: extendPrefixKey(before, hashContent(JSON.stringify(message))),
        count: countMessage(message, counter),
      });
    }
    const history: History = { overhead: noRawCount, overheadKey: "", messages };
    const last = previous;
    previous = next(request, history);
    const reason = reasonToSkip(request, last, rewritten);
    if (reason !== undefined) return reason;
    if (last === undefined || request.usage === null) return "no usage before";
    const calibration = calibrations.get(request.model) ?? uncalibrated;
    const generation = generationOf(request.model);
    const measured = compare(history, last.anchor, request.usage, generation, calibration);
    const observation = observe(history, last.anchor, promptTokens(request.usage), generation);
    if (observation !== undefined) calibrations.set(request.model, learn(calibration, observation));
    return measured === undefined
      ? `appended ${deltaTokensMin} tokens or fewer`
      : { family: familyOf(request.model), ...measured };
  };
}

function next({ model, usage }: TraceRequest, history: History): Previous | undefined {
  if (usage === null) return undefined;
  return { model, messageCount: history.messages.length, anchor: anchorAt(history, usage) };
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

function compare(
  history: History,
  anchor: Anchor,
  usage: Usage,
  generation: Tokenizer,
  calibration: Calibration,
): Omit<Accuracy, "family"> | undefined {
  const billed = promptTokens(usage);
  const appended = billed - anchor.promptTokens;
  if (appended <= deltaTokensMin) return undefined;
  const totalWith = (from: Anchor, use: Calibration): number =>
    countHistory(history, from, { generation, calibration: use }).tokens;
  const errorOf = (total: number): number => Math.abs(total - billed) / appended;
  const calibrated = totalWith(anchor, calibration);
  return {
    cold: errorOf(totalWith(anchor, uncalibrated)),
    contentOnly: errorOf(totalWith({ ...anchor, replyTokens: 0 }, uncalibrated)),
    calibrated: errorOf(calibrated),
    anchoredTotal: Math.abs(calibrated - billed) / billed,
  };
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
