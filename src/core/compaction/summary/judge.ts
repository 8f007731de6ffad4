// The gate: nothing is replaced by a summary that has one of these problems.
import { findGibberish } from "./gibberish.ts";
import { missingSections } from "./sections.ts";

export interface SummaryDemands {
  /** Exact strings that must stand in it. */
  readonly identifiers: readonly string[];
  /** What was asked and is not done, in the words it was asked with. */
  readonly pendingAsks?: readonly string[];
  readonly tokensMin: number;
  readonly tokensMax: number;
  readonly countText: (text: string) => number;
  /** A part of a conversation need not have every section. */
  readonly isPart?: boolean;
}

/** What is wrong with a summary, each a sentence that its writer can be told; empty where it may be used. */
export function judgeSummary(text: string, demands: SummaryDemands): readonly string[] {
  if (text.trim() === "") return ["It is empty."];
  const gibberish = findGibberish(text);
  if (gibberish !== null) return [gibberish];
  return [
    ...(demands.isPart === true ? [] : sectionProblems(text)),
    ...sizeProblems(text, demands),
    ...toolProblems(text),
    ...askProblems(text, demands.pendingAsks ?? []),
    ...identifierProblems(text, demands.identifiers),
  ];
}

/** Those that a text does not hold word for word. */
export function lostIdentifiers(text: string, identifiers: readonly string[]): readonly string[] {
  return identifiers.filter((each) => !text.includes(each));
}

function sectionProblems(text: string): readonly string[] {
  const missing = missingSections(text);
  if (missing.length === 0) return [];
  return [`It lacks these headings: ${missing.map((heading) => `## ${heading}`).join(", ")}.`];
}

function sizeProblems(text: string, demands: SummaryDemands): readonly string[] {
  const { tokensMin, tokensMax, countText } = demands;
  const tokens = countText(text);
  if (tokens > tokensMax) {
    return [`It is too long: about ${tokens} tokens, and at most ${tokensMax} are allowed.`];
  }
  if (tokens >= tokensMin) return [];
  return [
    `It is too short: about ${tokens} tokens for what happened, and ${tokensMin} are needed.`,
  ];
}

/** A call of a tool that was written as text, in the tags models use for it. */
const writtenCall =
  /^\s*(?:<(?:\w+:)?(?:function_calls?|tool_calls?|invoke)\b|\{\s*"(?:tool_calls|function_call|tool_use)"\s*:)/m;

function toolProblems(text: string): readonly string[] {
  return writtenCall.test(text)
    ? ["It calls a tool. Tools cannot be called here; write what is known."]
    : [];
}

/** A summary may use other words and fewer, but some of those that were used. */
const sharedShareMin = 0.3;
const sharedWordsEnough = 6;

function askProblems(text: string, asks: readonly string[]): readonly string[] {
  const said = wordsOf(text);
  return asks.flatMap((ask) => {
    const words = [...wordsOf(ask)].slice(0, 40);
    const kept = words.filter((word) => said.has(word)).length;
    // Of few words, chance decides.
    const needed = Math.min(words.length * sharedShareMin, sharedWordsEnough);
    if (words.length < 4 || kept >= needed) return [];
    return [`It does not say that this was asked and is still open: ${toExcerpt(ask)}`];
  });
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_./-]{4,}/gu) ?? []);
}

function toExcerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}

function identifierProblems(text: string, identifiers: readonly string[]): readonly string[] {
  const lost = lostIdentifiers(text, identifiers);
  if (lost.length === 0) return [];
  return [`It lacks these, which must stand in it word for word: ${lost.join(", ")}`];
}
