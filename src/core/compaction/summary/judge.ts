// The quality gate: a summary with one of these problems replaces nothing.
import { missingSections } from "./sections.ts";

export interface SummaryDemands {
  /** Exact strings it must contain. */
  readonly identifiers: readonly string[];
  /** Requests that are still open, in the user's words. */
  readonly pendingAsks?: readonly string[];
  readonly tokensMin: number;
  readonly tokensMax: number;
  readonly countText: (text: string) => number;
  /** A summary of one part need not have every section. */
  readonly isPart?: boolean;
}

/** What is wrong with a summary, as sentences for its writer. Empty if it may be used. */
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

/** The identifiers that a text does not contain verbatim. */
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

/** A tool call written as text, in the tags models use. */
const writtenCall =
  /^\s*(?:<(?:\w+:)?(?:function_calls?|tool_calls?|invoke)\b|\{\s*"(?:tool_calls|function_call|tool_use)"\s*:)/m;

function toolProblems(text: string): readonly string[] {
  return writtenCall.test(text)
    ? ["It calls a tool. Tools cannot be called here; write what is known."]
    : [];
}

/** A summary may use other and fewer words, but must share some with the request. */
const sharedShareMin = 0.3;
const sharedWordsEnough = 6;

function askProblems(text: string, asks: readonly string[]): readonly string[] {
  const present = wordsOf(text);
  return asks.flatMap((ask) => {
    const words = [...wordsOf(ask)].slice(0, 40);
    const kept = words.filter((word) => present.has(word)).length;
    // With few words, chance would decide.
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

export function addIdentifiers(summary: string, identifiers: readonly string[]): string {
  if (identifiers.length === 0) return summary;
  return `${summary}\n\nAlso named: ${identifiers.join(", ")}`;
}

/** Removes the tags or fence that some models put around it, and analysis before it. */
export function cleanSummary(reply: string): string {
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(reply)?.[1];
  const text = (tagged ?? reply.replace(/<analysis>[\s\S]*?<\/analysis>/g, "")).trim();
  const fenced = /^```\w*\n([\s\S]*)\n```$/.exec(text)?.[1];
  return (fenced ?? text).trim();
}

/** Why a text cannot be a summary, as a sentence. Null if it may be one. */
function findGibberish(text: string): string | null {
  if (repeats(text)) return "It says the same over and over.";
  if (lettersIn(text) < lettersMin) return "It is not made of words.";
  if (unbrokenIn(text) > unbrokenMax || noiseIn(text) > noiseMax) return "It is not readable text.";
  return null;
}

/** The least share of letters among non-space characters. A list of paths and hashes has more than half. */
const lettersMin = 0.4;
/** The largest share of characters in runs that are longer than any word, path or URL. */
const unbrokenMax = 0.3;
const runCharacters = 200;
/** The largest share of unpronounceable words among words of plain letters. */
const noiseMax = 0.5;

/** From this many word triples on, even lists of similar items have more than an eighth distinct ones. */
const triplesMin = 60;

function repeats(text: string): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const triples = words
    .slice(2)
    .map((word, index) => `${words[index]} ${words[index + 1]} ${word}`);
  return triples.length >= triplesMin && new Set(triples).size < triples.length / 8;
}

function lettersIn(text: string): number {
  const characters = text.replace(/\s/g, "").length;
  return characters === 0 ? 0 : (text.match(/\p{L}/gu) ?? []).join("").length / characters;
}

/** Ignores languages that write without spaces. */
function unbrokenIn(text: string): number {
  const runs = text.match(/[!-~]+/g) ?? [];
  const long = runs.filter((run) => run.length > runCharacters).join("").length;
  return text === "" ? 0 : long / text.length;
}

function noiseIn(text: string): number {
  const words = text.match(/(?<![\p{L}\p{N}_./-])[A-Za-z]{4,}(?![\p{L}\p{N}_./-])/gu) ?? [];
  if (words.length < 20) return 0;
  const unsayable = words.filter((word) => /[^aeiouy]{5,}/i.test(word) || !/[aeiouy]/i.test(word));
  return unsayable.length / words.length;
}
