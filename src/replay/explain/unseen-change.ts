// Infers changes that a recording does not show from bills and settings: a prompt that shrank, an unread foundation.
import type { MissCause } from "../../core/diagnosis/explanation.ts";
import { promptTokens, type Usage } from "../../core/message/usage.ts";
import type { Tokenizer } from "../../core/models/model-facts.ts";
import type { RecordedBlock, RecordedRequest } from "../recording.ts";

export interface UnseenChange {
  readonly cause: Extract<MissCause, "history rewritten" | "parameter changed" | "system changed">;
  readonly detail: string;
}

/** Two calls on one thread; the second read less than the recording explains. */
export interface UnseenQuestion {
  readonly before: CallFacts;
  readonly now: CallFacts;
  /** All recorded blocks of the second call. */
  readonly blocks: readonly RecordedBlock[];
  /** The blocks that the first call did not have. */
  readonly appended: readonly RecordedBlock[];
  readonly tokenizer: Tokenizer;
  /** Whether requests are recorded whole: then only a setting that no rule knows can matter. */
  readonly isWhole: boolean;
}

export interface CallFacts {
  readonly usage: Usage;
  readonly settings: RecordedRequest["settings"];
}

/** The error of our counts in tokens; only a larger difference counts as evidence. Other tokenizers are estimated. */
export function countErrorOf(tokenizer: Tokenizer, counted: number): number {
  return tokenizer === "o200k" ? Math.max(64, counted * 0.05) : Math.max(512, counted * 0.25);
}

/** Null without evidence of a change. */
export function findUnseenChange(question: UnseenQuestion): UnseenChange | null {
  const { before, now } = question;
  const left = question.isWhole ? null : findLeftOut(question);
  if (left !== null) return left;
  // No rule of the provider makes this setting matter, but it changed at exactly this call.
  const changed = changedName(before.settings, now.settings);
  if (changed === null) return null;
  const value = ({ settings }: CallFacts): string => settings[changed] ?? "none";
  return { cause: "parameter changed", detail: `${changed}: ${value(before)} → ${value(now)}` };
}

/** What the bill says about parts that are not recorded. */
function findLeftOut(question: UnseenQuestion): UnseenChange | null {
  const { blocks, appended, now } = question;
  const last = appended.at(-1);
  // Every agent's prompt has tools: if none are recorded, the recording lacks everything before the messages.
  const isHidden = !blocks.some(({ tier }) => tier === "T0");
  const isUserTurn = last?.role === "user" && last.kind === "text";
  const missing = missingTokens(question, isUserTurn);
  if (isHidden && now.usage.cacheReadTokens === 0 && (isUserTurn || missing > 0)) {
    const detail = "not even tools and system were read, which the recording does not hold";
    return { cause: "system changed", detail };
  }
  if (missing > 0) {
    const detail = `${missing} tokens of the history were not sent again, such as earlier thinking or cleared results`;
    return { cause: "history rewritten", detail };
  }
  return null;
}

/** How much less the prompt grew than was appended. Within a turn only a shorter prompt is evidence, as counts have errors. */
function missingTokens(
  { before, now, appended, tokenizer }: UnseenQuestion,
  isUserTurn: boolean,
): number {
  const counted = appended.reduce((sum, { tokens }) => sum + tokens, 0);
  const grown = promptTokens(now.usage) - promptTokens(before.usage);
  if (!isUserTurn && grown >= 0) return 0;
  const missing = counted - grown;
  return missing > countErrorOf(tokenizer, counted) ? missing : 0;
}

function changedName(
  before: RecordedRequest["settings"],
  now: RecordedRequest["settings"],
): string | null {
  const names = [...Object.keys(before), ...Object.keys(now)].toSorted();
  return names.find((name) => before[name] !== now[name]) ?? null;
}
