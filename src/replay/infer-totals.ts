// How long prompts were whose bill is missing, from the bills before and after them.
import { promptTokens } from "../core/message/usage.ts";
import type { Tokenizer } from "../core/models/model-facts.ts";
import type { RecordedRequest } from "./recording.ts";
import { countErrorOf } from "./explain/unseen-change.ts";

/** One request of a thread, in the order of the recording. */
export interface SizedRequest {
  readonly thread: string;
  readonly request: RecordedRequest;
  readonly tokenizer: Tokenizer;
}

/** Prompt tokens without the remainder, of requests without a bill that lie between bills. */
export type InferredTotals = ReadonlyMap<RecordedRequest, number>;

/**
 * Requests that only add are measured by the next bill: what it says of them all is shared out by our own counts. Where the
 * thread had no bill before, what the counts do not explain was there from its start.
 */
export function inferTotals(requests: Iterable<SizedRequest>): InferredTotals {
  const totals = new Map<RecordedRequest, number>();
  const runs = new Map<string, Run>();
  for (const { thread, request, tokenizer } of requests) {
    const run = runs.get(thread) ?? openRun(tokenizer);
    runs.set(thread, run);
    const isGrown = request.keep === run.blocks && tokenizer === run.tokenizer;
    if (!isGrown) Object.assign(run, { waiting: [], counted: 0, start: null, isWhole: false });
    run.tokenizer = tokenizer;
    run.blocks = request.keep + request.append.length;
    run.counted += request.append.reduce((sum, { tokens }) => sum + tokens, 0);
    if (request.usage === null) {
      run.waiting.push({ request, counted: run.counted });
      continue;
    }
    const billed = promptTokens(request.usage) - request.remainderTokens;
    share(run, billed, totals);
    Object.assign(run, { waiting: [], counted: 0, start: billed, isWhole: true });
  }
  return totals;
}

/** What a thread added since its last bill. */
interface Run {
  tokenizer: Tokenizer;
  /** How many blocks its last request had. */
  blocks: number;
  waiting: { readonly request: RecordedRequest; readonly counted: number }[];
  counted: number;
  /** The size at the last bill; null where there was none. */
  start: number | null;
  /** Whether nothing was rewritten since the last bill, or since the start. */
  isWhole: boolean;
}

function openRun(tokenizer: Tokenizer): Run {
  return { tokenizer, blocks: 0, waiting: [], counted: 0, start: null, isWhole: true };
}

function share(run: Run, billed: number, totals: Map<RecordedRequest, number>): void {
  const { waiting, counted, start, isWhole, tokenizer } = run;
  if (waiting.length === 0 || !isWhole || counted === 0) return;
  const grown = billed - (start ?? 0);
  const hidden = grown - counted;
  const isExplained = Math.abs(hidden) <= countErrorOf(tokenizer, counted);
  if (!isExplained && (start !== null || hidden < 0)) return;
  for (const each of waiting) {
    const total = isExplained
      ? (start ?? 0) + Math.round((each.counted / counted) * grown)
      : hidden + each.counted;
    totals.set(each.request, total);
  }
}
