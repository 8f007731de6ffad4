// What a recording does not hold shows in the bills and beside them: a prompt that shrank, a foundation that could not be read.
import type { MissCause } from "../core/diagnosis/explanation.ts";
import { promptTokens, type Usage } from "../core/message/usage.ts";
import type { RecordedBlock, RecordedRequest } from "./recording.ts";

export interface UnseenChange {
  readonly cause: Extract<MissCause, "history rewritten" | "parameter changed" | "system changed">;
  readonly detail: string;
}

/** Two calls on one thread, of which the second read less than the recording accounts for. */
export interface UnseenQuestion {
  readonly before: CallFacts;
  readonly now: CallFacts;
  /** All blocks of the second call as recorded. */
  readonly blocks: readonly RecordedBlock[];
  /** Those of them that the call before did not have. */
  readonly appended: readonly RecordedBlock[];
  readonly countError: CountError;
}

export interface CallFacts {
  readonly usage: Usage;
  readonly settings: RecordedRequest["settings"];
}

/** How far counts of ours may be off before a difference says something. */
export interface CountError {
  readonly tokens: number;
  /** Of what is counted. */
  readonly share: number;
}

/** Null where nothing shows. */
export function findUnseenChange(question: UnseenQuestion): UnseenChange | null {
  const { blocks, appended, before, now } = question;
  const last = appended.at(-1);
  // Tools are in every agent's prompt: where none are recorded, what comes before the messages is not.
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
  // The provider's rules do not say that it matters; that it changed at this very call does.
  const changed = changedName(before.settings, now.settings);
  if (changed === null) return null;
  const value = ({ settings }: CallFacts): string => settings[changed] ?? "none";
  return { cause: "parameter changed", detail: `${changed}: ${value(before)} → ${value(now)}` };
}

/** By how much the prompt grew less than what was appended. Within a turn only a shorter prompt says something: counts err too. */
function missingTokens(
  { before, now, appended, countError }: UnseenQuestion,
  isUserTurn: boolean,
): number {
  const counted = appended.reduce((sum, { tokens }) => sum + tokens, 0);
  const grown = promptTokens(now.usage) - promptTokens(before.usage);
  if (!isUserTurn && grown >= 0) return 0;
  const missing = counted - grown;
  return missing > Math.max(countError.tokens, counted * countError.share) ? missing : 0;
}

function changedName(
  before: RecordedRequest["settings"],
  now: RecordedRequest["settings"],
): string | null {
  const names = [...Object.keys(before), ...Object.keys(now)].toSorted();
  return names.find((name) => before[name] !== now[name]) ?? null;
}
