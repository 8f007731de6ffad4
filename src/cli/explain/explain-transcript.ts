// strata explain TRANSCRIPT: every call of recorded sessions that read less than it could have.
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { StrataError } from "../../core/strata-error.ts";
import { explainRecordings } from "../../replay/explain/explain-recording.ts";
import { isMiss, type ExplainedCall } from "../../replay/explain/explained-call.ts";
import type { CommandInput, Io } from "../command.ts";
import { createProgress } from "../progress.ts";
import { explanationToJson, renderExplanation } from "./render-explanation.ts";
import { withRecordings, type GivenRecordings } from "../with-recordings.ts";
import { renderTable, type Column } from "../table.ts";

export async function explainTranscript(input: CommandInput, io: Io): Promise<number> {
  refusePairOptions(input);
  const number = callNumberOf(input);
  const excerpts = input.switches.has("excerpts");
  return withRecordings(input, io, excerpts, async (given) => {
    const found = await walk(given, number, io);
    if (found.calls === 0) throw nothingFound(given.from, found.skipped);
    return show(found, { number, excerpts }, input, io);
  });
}

function show(found: Found, { number, excerpts }: Asked, input: CommandInput, io: Io): number {
  if (number !== null && found.shown.length === 0) throw noSuchCall(number);
  const isJson = input.switches.has("json");
  if (isJson) io.out(`${JSON.stringify(toJson(found), undefined, 2)}\n`);
  else {
    io.out(number === null ? renderMisses(found) : renderCalls(found.shown));
    if (excerpts && hasNoContent(found)) io.out("no excerpts: the recording holds no content\n");
  }
  return 0;
}

/** These options describe two request bodies; a transcript already contains all of it. */
function refusePairOptions({ values }: CommandInput): void {
  const given = ["model", "models", "gap", "usage"].find((name) => values.has(name));
  if (given === undefined) return;
  throw new StrataError(
    "usage",
    `--${given} is for two request bodies, and this is one transcript`,
    "leave it out, or name the body of the later request too",
  );
}

function callNumberOf({ values }: CommandInput): number | null {
  const text = values.get("call");
  if (text === undefined) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new StrataError(
    "usage",
    `--call is ${JSON.stringify(text)}, which is not the number of a call`,
    "count calls from 1, like --call 12",
  );
}

interface Asked {
  /** The call to show; null for every miss. */
  readonly number: number | null;
  readonly excerpts: boolean;
}

interface Found {
  /** Calls with usage in all sessions. */
  readonly calls: number;
  /** The misses, or the calls chosen with --call. */
  readonly shown: readonly ExplainedCall[];
  /** Lines and files that could not be used, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
}

async function walk(given: GivenRecordings, number: number | null, io: Io): Promise<Found> {
  const progress = createProgress(io, "explained");
  const skipped = new Map<string, number>();
  const shown: ExplainedCall[] = [];
  let calls = 0;
  const recordings = given.read((bytes, total) => progress.update(bytes, total));
  const onSkipped = ({ reason }: { readonly reason: string }): void => {
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  };
  const explained = explainRecordings(recordings, onSkipped, given.catalogue);
  for await (const call of explained) {
    calls += 1;
    if (number === null ? isMiss(call.explanation) : call.call === number) shown.push(call);
  }
  progress.end();
  return { calls, shown, skipped };
}

function hasNoContent({ shown }: Found): boolean {
  const misses = shown.filter(({ explanation }) => isMiss(explanation));
  return misses.length > 0 && misses.every(({ firstUnread }) => firstUnread === undefined);
}

function nothingFound(from: string, skipped: Found["skipped"]): StrataError {
  const why = [...skipped].map(([reason, count]) => `${reason} (${count})`).slice(0, 3);
  return new StrataError(
    "not-found",
    `no call with usage could be read from ${from}${why.length > 0 ? `: ${why.join("; ")}` : ""}`,
    "give a transcript, an exported session or a folder of them, the bodies of two requests, or --session",
  );
}

function noSuchCall(number: number): StrataError {
  return new StrataError(
    "not-found",
    `no session has a call ${number} with usage`,
    "leave --call out to see which calls missed",
  );
}

function toJson({ calls, shown, skipped }: Found): unknown {
  return {
    calls,
    shown: shown.map(({ explanation, ...call }) => ({
      ...call,
      ...explanationToJson(explanation),
    })),
    skipped: [...skipped].map(([reason, count]) => ({ reason, count })),
  };
}

function renderMisses({ calls, shown, skipped }: Found): string {
  const sessions = new Set(shown.map(({ sessionId }) => sessionId));
  const table = renderTable<ExplainedCall>(
    [
      ...(sessions.size > 1
        ? [{ title: "session", cell: ({ sessionId }: ExplainedCall) => sessionId }]
        : []),
      { title: "call", cell: nameOf, align: "right" },
      { title: "cause", cell: causeOf },
      {
        title: "lost",
        cell: ({ explanation }) => formatCount(explanation.lostTokens),
        align: "right",
      },
      {
        title: "cost",
        cell: ({ explanation }) => dollars(explanation.lostPicoUsd),
        align: "right",
      },
      ...(shown.some(({ firstUnread }) => firstUnread !== undefined) ? [excerptColumn] : []),
      { title: "what would have avoided it", cell: ({ explanation }) => explanation.advice },
    ],
    shown,
  );
  const lost = shown.reduce((sum, { explanation }) => sum + explanation.lostTokens, 0);
  const cost = shown.reduce((sum, { explanation }) => sum + (explanation.lostPicoUsd ?? 0n), 0n);
  const left = [...skipped.values()].reduce((sum, each) => sum + each, 0);
  const summary = `${formatCount(shown.length)} of ${formatCount(calls)} calls missed: ${formatCount(lost)} tokens, ${dollars(cost)}`;
  const hasInferred = shown.some(({ evidence }) => evidence === "inferred");
  const isLong = shown.length > totalsFrom;
  return [
    isLong ? `${summary}\n${renderTotals(shown)}\n` : "",
    shown.length === 0 ? "" : table,
    isLong ? "" : `${summary}\n`,
    left === 0 ? "" : `${formatCount(left)} lines or files skipped\n`,
    hasInferred ? "* not in the recording; inferred from bills and replies\n" : "",
  ].join("");
}

/** More misses than this are read from their totals. */
const totalsFrom = 5;

/** What each cause cost, most first. */
function renderTotals(shown: readonly ExplainedCall[]): string {
  const totals = new Map<string, Total>();
  for (const each of shown) {
    const { lostTokens, lostPicoUsd } = each.explanation;
    const total = totals.get(causeOf(each)) ?? {
      cause: causeOf(each),
      calls: 0,
      tokens: 0,
      lostPicoUsd: 0n,
      first: each,
    };
    totals.set(total.cause, total);
    total.calls += 1;
    total.tokens += lostTokens;
    total.lostPicoUsd += lostPicoUsd ?? 0n;
  }
  const most = [...totals.values()].toSorted((left, right) =>
    right.lostPicoUsd > left.lostPicoUsd ? 1 : -1,
  );
  return renderTable<Total>(
    [
      { title: "cause", cell: ({ cause }) => cause },
      { title: "calls", cell: ({ calls }) => formatCount(calls), align: "right" },
      { title: "lost", cell: ({ tokens }) => formatCount(tokens), align: "right" },
      { title: "cost", cell: ({ lostPicoUsd }) => dollars(lostPicoUsd), align: "right" },
      { title: "first", cell: ({ first }) => `${first.sessionId}, call ${nameOf(first)}` },
    ],
    most,
  );
}

interface Total {
  readonly cause: string;
  calls: number;
  tokens: number;
  lostPicoUsd: bigint;
  readonly first: ExplainedCall;
}

const excerptColumn: Column<ExplainedCall> = {
  title: "first block that was not read",
  cell: ({ firstUnread }) => firstUnread?.excerpt ?? "(not in the recording)",
};

function renderCalls(shown: readonly ExplainedCall[]): string {
  return shown
    .map((call) => {
      const { sessionId, model, gapMs, explanation, evidence, firstUnread } = call;
      const gap = gapMs === null ? "" : `, ${Math.round(gapMs / 1000)} s after the call before`;
      const inferred = evidence === "inferred" ? ["inferred from bills and replies"] : [];
      const head = [`${sessionId}, call ${nameOf(call)} on ${model}${gap}`, ...inferred].join("; ");
      return `${head}\n${renderExplanation(explanation, { isReported: true, firstUnread })}`;
    })
    .join("\n");
}

function nameOf({ call, thread }: ExplainedCall): string {
  return thread === "" ? String(call) : `${call} (${thread})`;
}

function causeOf({ explanation, evidence }: ExplainedCall): string {
  return evidence === "inferred" ? `${explanation.cause} *` : explanation.cause;
}

function formatCount(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

function dollars(picoUsd: bigint | null): string {
  return picoUsd === null ? "-" : formatUsdRounded(picoUsd);
}
