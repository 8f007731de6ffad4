// How near the prompts that are priced come to the bills: as recorded, and with every second bill withheld.
import { quantile } from "../../harness/measure.ts";
import { atMost, type Check, type Figure } from "../../harness/report.ts";
import { splitByRepository } from "../../harness/traces.ts";
import { promptTokens, type Usage } from "../../src/core/message/usage.ts";
import type { TextCounter } from "../../src/core/tokens/o200k/counter.ts";
import { createAnchor, type Anchor } from "../../src/replay/anchor-sizes.ts";
import { inferTotals } from "../../src/replay/infer-totals.ts";
import { tokenizerOf } from "../../src/replay/readers/block-draft.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";
import type { RecordedRequest } from "../../src/replay/recording.ts";
import type { ReplayReport } from "../../src/replay/report.ts";

/**
 * The checks are on the prompts whose bills were withheld: what is priced there follows from the bills around them alone. Where
 * a bill stands, the error is a figure of its own.
 */
export async function measureBilled(
  folder: string,
  { recordedReads }: ReplayReport,
  counter: TextCounter,
): Promise<{
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
}> {
  const kept = recordedReads.flatMap(({ billedPromptTokens: billed, promptErrorTokens: off }) =>
    billed === 0 ? [] : [off / billed],
  );
  const figures: Record<string, Figure> = {
    "sessions with bills": kept.length,
    "billed prompt error where the bill stands, worst": quantile(kept, 1),
  };
  const all: number[] = [];
  for (const [index, { files }] of splitByRepository(folder).entries()) {
    const errors = await withheldErrors(files, counter);
    all.push(...errors);
    figures[`half ${index + 1}: sessions with withheld bills`] = errors.length;
    figures[`half ${index + 1}: billed prompt error median`] = quantile(errors, 0.5);
    figures[`half ${index + 1}: billed prompt error p90`] = quantile(errors, 0.9);
  }
  figures["billed prompt error worst"] = quantile(all, 1);
  return {
    figures,
    checks: [
      atMost("billed prompt error where the bill stands, p90", quantile(kept, 0.9), 0.01),
      atMost("billed prompt error median", quantile(all, 0.5), 0.01),
      atMost("billed prompt error p90", quantile(all, 0.9), 0.05),
    ],
  };
}

interface Shown {
  readonly sessionId: string;
  readonly thread: string;
  readonly request: RecordedRequest;
  /** Null where the bill was left, or there was none. */
  readonly withheld: Usage | null;
}

/** By session. The first bill of a thread stays: it says how large the part is that no recording has. */
async function withheldErrors(files: readonly string[], counter: TextCounter): Promise<number[]> {
  const shown: Shown[] = [];
  const counts = new Map<string, number>();
  for await (const recorded of readRecordings(files, { counter })) {
    if (recorded.type !== "request") continue;
    const { sessionId, request } = recorded;
    const thread = `${sessionId} ${request.thread}`;
    const count = (counts.get(thread) ?? 0) + 1;
    counts.set(thread, count);
    const withheld = count % 2 === 0 ? request.usage : null;
    const left = withheld === null ? request : { ...request, usage: null };
    shown.push({ sessionId, thread, request: left, withheld });
  }
  const inferred = inferTotals(
    shown.map(({ thread, request }) => ({
      thread,
      request,
      tokenizer: tokenizerOf(request.model),
    })),
  );
  const anchors = new Map<string, { readonly size: Anchor; readonly tokens: number[] }>();
  const sums = new Map<string, { billed: number; off: number }>();
  for (const { sessionId, thread, request, withheld } of shown) {
    const own = anchors.get(thread) ?? { size: createAnchor(thread), tokens: [] };
    anchors.set(thread, own);
    const sized = own.size(request, tokenizerOf(request.model), inferred.get(request)).request;
    own.tokens.length = sized.keep;
    for (const [place, tokens] of sized.sizes?.entries() ?? []) own.tokens[place] = tokens;
    own.tokens.push(...sized.append.map(({ tokens }) => tokens));
    if (withheld === null) continue;
    const billed = promptTokens(withheld) - request.remainderTokens;
    const sum = sums.get(sessionId) ?? { billed: 0, off: 0 };
    sums.set(sessionId, sum);
    sum.billed += billed;
    sum.off += Math.abs(own.tokens.reduce((total, each) => total + each, 0) - billed);
  }
  return [...sums.values()].flatMap(({ billed, off }) => (billed === 0 ? [] : [off / billed]));
}
