// How many identifiers that an agent writes after a compaction are still in its context: in our index and in other methods.
import { basename } from "node:path";
import { atLeast, atMost, type Check, type Figure, type Report } from "../../harness/report.ts";
import { splitByRepository } from "../../harness/traces.ts";
import type { HistoryMessage } from "../../src/core/compaction/history.ts";
import {
  buildIndex,
  type CompactionIndex,
} from "../../src/core/compaction/index/compaction-index.ts";
import { readCompactionCases, type CompactionCase } from "./cases.ts";
import { keepInstead } from "./keep-instead.ts";
import { findNeeded, identifierKinds, stands, textOf, type IdentifierKind } from "./needed.ts";

const indexTokensMax = 2_000;
const summaryTokens = 1_500;
const otherBudgets = [1_000, 4_000];

/** Ignores the summary: an identifier counts only in the index or in the text the compaction repeats word for word. */
export async function recallPart(
  folder: string,
  progress: (line: string) => void,
): Promise<Pick<Report, "figures" | "checks">> {
  const results: Result[] = [];
  for await (const each of readCompactionCases(folder, progress)) results.push(measure(each));
  const tokens = results.map(({ indexTokens }) => indexTokens);
  const shares = results.map(({ keptShare }) => keptShare);
  const index = results.map(({ index: found }) => found);
  return {
    figures: {
      "compactions measured": results.length,
      "identifiers needed": sum(index.map(({ needed }) => needed)),
      "index recall, mean over compactions": mean(index.filter(isCounted).map(recallOf)),
      "index recall": pooled(index),
      ...kinds(results),
      ...beside(results),
      "index tokens, largest": Math.max(...tokens),
      "index tokens, mean": mean(tokens),
      "identifiers left out, mean": mean(results.map(({ leftOut }) => leftOut)),
      "kept share, largest": Math.max(...shares),
    },
    checks: [
      ...halves(folder, results),
      atMost("kept share", mean(shares), 0.25),
      atMost("index tokens", Math.max(...tokens), indexTokensMax),
    ],
  };
}

interface Found {
  readonly needed: number;
  readonly found: number;
}

interface Result {
  readonly id: string;
  readonly index: Found;
  readonly byKind: ReadonlyMap<IdentifierKind, Found>;
  readonly others: ReadonlyMap<string, Found>;
  readonly indexTokens: number;
  readonly leftOut: number;
  /** Tail, summary, index and repeated text as a share of the history. */
  readonly keptShare: number;
}

function measure(each: CompactionCase): Result {
  const { history, tailFrom, repeated, countText } = each;
  const needed = findNeeded(each);
  const kept = [...repeated, ...history.slice(tailFrom)];
  const compacted = history.slice(0, tailFrom);
  const build = (tokensMax: number): CompactionIndex =>
    buildIndex({ compacted, kept, previous: null, tokensMax, countText });
  const index = build(indexTokensMax);
  const verbatim = textOf(repeated);
  const isIn = toFinder([readIndexText(index.text), verbatim]);
  const others = new Map<string, Found>();
  for (const budget of otherBudgets) {
    const finder = toFinder([readIndexText(build(budget).text), verbatim]);
    others.set(`index of ${budget} tokens`, count(needed.keys(), finder));
  }
  const chained = toFinder([readIndexText(foldInSteps(each, kept).text), verbatim]);
  others.set(
    `index of ${indexTokensMax} tokens after ${steps} folds in a row`,
    count(needed.keys(), chained),
  );
  for (const [name, text] of keepInstead(each, indexTokensMax, summaryTokens)) {
    others.set(name, count(needed.keys(), toFinder([text])));
  }
  const keptTokens = sum(kept.map(({ tokens }) => tokens)) + index.tokens + summaryTokens;
  return {
    id: each.id,
    index: count(needed.keys(), isIn),
    byKind: new Map(
      identifierKinds.map((kind) => [
        kind,
        count(
          [...needed].filter(([, own]) => own === kind).map(([identifier]) => identifier),
          isIn,
        ),
      ]),
    ),
    others,
    indexTokens: index.tokens,
    leftOut: index.leftOut,
    keptShare: keptTokens / sum(history.map(({ tokens }) => tokens)),
  };
}

const steps = 4;

/** Compactions the same messages a quarter at a time; each compaction continues the previous index. */
function foldInSteps(
  { history, tailFrom, countText }: CompactionCase,
  kept: readonly HistoryMessage[],
): CompactionIndex {
  const tokensMax = indexTokensMax;
  let index: CompactionIndex | null = null;
  for (let step = 1; step < steps; step += 1) {
    const [from, to] = [step - 1, step].map((each) => Math.floor((tailFrom * each) / steps));
    index = buildIndex({
      compacted: history.slice(from, to),
      previous: index,
      tokensMax,
      countText,
    });
  }
  const compacted = history.slice(Math.floor((tailFrom * (steps - 1)) / steps), tailFrom);
  return buildIndex({ compacted, kept, previous: index, tokensMax, countText });
}

function toFinder(texts: readonly string[]): (identifier: string) => boolean {
  return (identifier) => texts.some((text) => stands(text, identifier));
}

function count(identifiers: Iterable<string>, isIn: (identifier: string) => boolean): Found {
  const all = [...identifiers];
  return { needed: all.length, found: all.filter(isIn).length };
}

/** The ranking was fitted on the second half; the first half shows what to expect elsewhere. */
function halves(folder: string, results: readonly Result[]): Check[] {
  return splitByRepository(folder).map(({ files }, half) => {
    const names = new Set(files.map((file) => basename(file, ".jsonl")));
    const own = results.filter(({ id }) => names.has(id.replace(/#\d+$/u, "")));
    const name = `index recall, half ${half + 1} of the repositories`;
    return atLeast(name, pooled(own.map(({ index }) => index)), 0.9);
  });
}

function kinds(results: readonly Result[]): Record<string, Figure> {
  return Object.fromEntries(
    identifierKinds.flatMap((kind) => {
      const found = results.flatMap(({ byKind }) => byKind.get(kind) ?? []);
      const needed = sum(found.map((each) => each.needed));
      return needed === 0 ? [] : [[`index recall, ${kind} (${needed})`, pooled(found)]];
    }),
  );
}

function beside(results: readonly Result[]): Record<string, Figure> {
  const names = [...new Set(results.flatMap(({ others }) => [...others.keys()]))];
  return Object.fromEntries(
    names.map((name) => [
      `recall, ${name}`,
      pooled(results.flatMap(({ others }) => others.get(name) ?? [])),
    ]),
  );
}

/** Over all identifiers of all compactions; NaN if none was needed. */
function pooled(found: readonly Found[]): number {
  return sum(found.map((each) => each.found)) / sum(found.map(({ needed }) => needed));
}

function isCounted({ needed }: Found): boolean {
  return needed > 0;
}

function recallOf({ found, needed }: Found): number {
  return found / needed;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/**
 * Expands the paths of an index: `folder/: a b` means folder/a and folder/b; an indented line continues the folder of
 * the last line that is not indented. An identifier counts as found if the expanded text contains it.
 */
function readIndexText(text: string): string {
  let outer = "";
  const lines = text.split("\n").map((line) => {
    const end = line.search(/[/\\]:(?: |$)/u);
    if (end === -1) return expandMembers(line);
    const isInner = line.startsWith(" ");
    const folder = (isInner ? outer + line.slice(1, end) : line.slice(0, end)) + (line[end] ?? "");
    if (!isInner) outer = folder;
    const names = line
      .slice(end + 2)
      .split(" ")
      .filter((name) => name !== "");
    return [folder, ...names.map((name) => folder + name)].join("\n");
  });
  return lines.join("\n");
}

/** `owner.{one two}` means owner.one and owner.two. */
function expandMembers(line: string): string {
  return line.replaceAll(/(\S+\.)\{([^{}]+)\}/gu, (_, owner: string, names: string) =>
    names
      .split(" ")
      .map((name) => owner + name)
      .join(" "),
  );
}
