// Compares a reply with its plan: what is cached now, what the provider's counts show, and which promise failed.
import {
  countErrorMax,
  countTolerance,
  createRuler,
  isLive,
  keptMsOf,
  type CacheState,
  type KnownEntry,
  type Measured,
  type Ruler,
} from "./cache-state.ts";
import type { BlockList } from "../assembly/prompt-block.ts";
import { promptTokens, writtenTokens, type Usage } from "../message/usage.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { CachePlan, ExpectedBill } from "./cache-plan.ts";
import { noAccounts, payAlone, settleAccounts, tailLifetimes } from "./accounts.ts";
import { addEvidence, isRefuted, type CachePromise } from "./evidence.ts";
import {
  entriesByBlock,
  expectBill,
  foundationEnd,
  isFirm,
  keepsEveryPrefix,
  tailOf,
} from "./expect-bill.ts";
import type { Hit } from "./find-hit.ts";
import { countUnasked, noUnaskedReads } from "./unasked-reads.ts";
import { findReadable } from "./prompt-contents.ts";

export interface ReplyLesson {
  readonly state: CacheState;
  readonly verdict: Verdict;
  /** Promises that this reply refuted. Each is reported once. */
  readonly refuted: readonly CachePromise[];
}

/** Tokens the provider should have read, and those it read. */
export interface Verdict {
  readonly kind: "as expected" | "read less" | "read more" | "not told";
  readonly expectedTokens: number;
  readonly reportedTokens: number;
  /** The promise that a shortfall counts against. */
  readonly promise: CachePromise | null;
}

export interface AnsweredCall {
  readonly state: CacheState;
  readonly plan: CachePlan;
  readonly blocks: BlockList;
  readonly rules: CacheRules;
  readonly usage: Usage;
  /** Whether the provider reported cache usage. */
  readonly reportsCache: boolean;
  /** The send time in milliseconds since 1970. */
  readonly startMs: number;
  /** True if the call only keeps or writes a cache: no simple policy would have sent it. */
  readonly isWarming?: boolean;
  /** True if our own request caused a shortfall: it then says nothing about the provider. */
  readonly isOwnFault?: boolean;
}

export function learnFromReply(call: AnsweredCall): ReplyLesson {
  const { state, plan, blocks, usage, reportsCache, startMs, rules } = call;
  const ruler = createRuler(blocks, state.measured);
  const { entries, contents } = findReadable(state, blocks, rules);
  const { readEnd, ...verdict } = judge(call, entries, ruler);
  const known = correctEntries(call, entries, { ...verdict, readEnd }, ruler);
  const bill = expectBill({
    blocks,
    rules,
    ruler,
    markers: plan.markers,
    requestMarker: plan.requestMarker,
    mode: plan.mode ?? "implicit",
    entries: entriesByBlock(known),
    nowMs: startMs,
    ...(plan.stored && { stored: plan.stored }),
  });
  const measured = reportsCache ? measure(call, bill) : state.measured;
  const evidence =
    verdict.promise === null || rules.automatic?.bestEffort === true
      ? state.evidence
      : addEvidence(state.evidence, verdict.promise, verdict.kind !== "read less");
  return {
    state: {
      entries: nextEntries(
        known,
        bill,
        startMs,
        reportsCache ? exactTokensOf(bill, usage) : new Map(),
        foundationEnd(blocks),
      ),
      lastTail: findLastTail(plan, blocks),
      measured: measured ?? state.measured,
      lastStartMs: startMs,
      calls: state.calls + 1,
      contents,
      evidence,
      ...accountsAfter(call, measured),
      ...unaskedAfter(call, ruler),
    },
    verdict: { ...verdict, reportedTokens: usage.cacheReadTokens },
    refuted:
      verdict.promise !== null &&
      isRefuted(evidence, verdict.promise) &&
      !isRefuted(state.evidence, verdict.promise)
        ? [verdict.promise]
        : [],
  };
}

/** Where the repeated part of a call ends. */
export function findLastTail(
  { markers }: Pick<CachePlan, "markers">,
  blocks: BlockList,
): CacheState["lastTail"] {
  const block = markers.findLast(({ slot }) => slot === "tail")?.block ?? tailOf(blocks);
  const key = block < 0 ? undefined : blocks.at(block)?.key;
  return key === undefined ? null : { key, block };
}

/** Without reported cache usage, or with one lifetime, there is nothing to compare. */
function accountsAfter(
  { state, blocks, rules, usage, reportsCache, startMs, isWarming = false }: AnsweredCall,
  measured: Measured | null,
): Pick<CacheState, "accounts"> {
  const { accounts = noAccounts } = state;
  const isKnown = reportsCache && tailLifetimes(rules) !== null;
  if (!isKnown) return state.accounts === undefined ? {} : { accounts };
  if (isWarming) return { accounts: payAlone(accounts, usage, rules) };
  const ruler = createRuler(blocks, measured ?? state.measured);
  const question = { blocks, rules, ruler, tail: tailOf(blocks), nowMs: startMs };
  return { accounts: settleAccounts(accounts, question, usage) };
}

/** Only where a client may store prefixes: there it decides whether that pays. */
function unaskedAfter(
  { state, plan, blocks, rules, usage, reportsCache, startMs }: AnsweredCall,
  ruler: Ruler,
): Pick<CacheState, "unasked"> {
  if (rules.stored === null) return {};
  const { unasked = noUnaskedReads, lastTail, lastStartMs } = state;
  const isRepeated = lastTail !== null && blocks.at(lastTail.block)?.key === lastTail.key;
  const tokens = isRepeated ? ruler(lastTail.block) : 0;
  const isLongEnough = tokens > 0 && tokens >= (rules.minimumTokens ?? 0);
  const isStored = plan.stored !== undefined;
  // What stands behind a stored prefix, and what replies without counts read, is not known.
  const isTelling = isLongEnough && !isStored && !unasked.isAfterStored && lastStartMs !== null;
  if (!isTelling || usage.outputTokens + usage.uncachedTokens === 0) {
    return { unasked: { ...unasked, isAfterStored: isStored } };
  }
  const held = reportsCache && usage.cacheReadTokens * 2 >= tokens;
  return { unasked: countUnasked(unasked, startMs - lastStartMs, held) };
}

interface Judged extends Verdict {
  /** After a shortfall: the block where the read ended; -1 if nothing was read. */
  readonly readEnd: number;
}

function judge(call: AnsweredCall, entries: readonly KnownEntry[], ruler: Ruler): Judged {
  const { plan, usage, reportsCache, rules, startMs } = call;
  const { readTokens: expectedTokens, hit } = plan.expected;
  const reportedTokens = usage.cacheReadTokens;
  const promise = hit === null ? null : promiseOf(hit, rules, startMs);
  const counts = { expectedTokens, reportedTokens, readEnd: hit?.block ?? -1 };
  if (!reportsCache) return { kind: "not told", ...counts, promise: null };
  const tolerance = Math.max(stepOf(rules), countTolerance(expectedTokens));
  if (reportedTokens < expectedTokens - tolerance) {
    // Where every prefix is kept, a read may end anywhere, and the last reply measured the prompt.
    const readEnd = keepsEveryPrefix(rules) ? -1 : findReadEnd(call, entries, ruler);
    if (readEnd === hit?.block) return { kind: "as expected", ...counts, promise };
    const isCertain = call.isOwnFault !== true && !mayBeTooShort(call);
    return { kind: "read less", ...counts, readEnd, promise: isCertain ? promise : null };
  }
  // Reading more is harmless. Much more means that another client wrote it.
  const isEstimate = hit !== null && !isExact(hit) && !keepsEveryPrefix(rules);
  const slack = isEstimate ? expectedTokens * countErrorMax : 0;
  if (reportedTokens > expectedTokens + Math.max(slack, 2 * tolerance)) {
    const held = readStep(call) ? "steps last" : promise;
    return { kind: "read more", ...counts, promise: held };
  }
  return { kind: "as expected", ...counts, promise };
}

/** The provider's own counts of one prefix differ by no more than this. */
const exactTolerance = 8;

function stepOf({ automatic }: CacheRules): number {
  return automatic?.stepTokens ?? automatic?.reportedInSteps ?? 0;
}

function isExact({ entries }: Hit): boolean {
  return entries.some(({ tokens }) => tokens !== null);
}

/** Whether a step was read that we no longer counted on. */
function readStep({ state, blocks, rules, usage, startMs }: AnsweredCall): boolean {
  const read = usage.cacheReadTokens;
  return state.entries.some(({ block, key, lifetime, isStep, tokens, touchedMs }) => {
    if (isStep !== true || lifetime === null || blocks.at(block)?.key !== key) return false;
    const isLate = startMs - touchedMs > (rules.lifetimes[0]?.seconds ?? 0) * 1000;
    const isInTime = startMs - touchedMs <= keptMsOf(lifetime, rules);
    const size = tokens ?? createRuler(blocks, state.measured)(block);
    return isLate && isInTime && Math.abs(size - read) <= countTolerance(read);
  });
}

/** Our count may have put a prefix above the minimum that the provider found too short to keep. */
function mayBeTooShort({ plan, rules, usage }: AnsweredCall): boolean {
  const { readTokens, hit } = plan.expected;
  if (usage.cacheReadTokens > 0 || hit === null || isExact(hit)) return false;
  return readTokens * (1 - countErrorMax) < (rules.minimumTokens ?? 0);
}

/**
 * A read ends where an entry ends. Of the entries that this prompt could have read, it is the one with exactly this
 * size, or else the one whose estimate is nearest; -1 if none can be it.
 */
function findReadEnd(
  { blocks, plan, usage, rules, startMs }: AnsweredCall,
  entries: readonly KnownEntry[],
  ruler: Ruler,
): number {
  const read = usage.cacheReadTokens;
  const last = plan.expected.hit?.block ?? -1;
  let nearest = { block: -1, error: Math.log(1 / (1 - countErrorMax)) };
  for (const entry of entries) {
    const { block, key, tokens } = entry;
    const isReadable = block <= last && blocks.at(block)?.key === key && isLive(entry, startMs);
    if (read === 0 || !isReadable) continue;
    if (tokens === null) {
      const error = Math.abs(Math.log(read / Math.max(1, ruler(block))));
      if (error < nearest.error) nearest = { block, error };
    } else if (Math.abs(read - tokens) <= exactTolerance + stepOf(rules)) return block;
  }
  return nearest.block;
}

/** Finding an entry this far back tests the documented lookback. */
const farBack = 10;

/** The promise behind this hit. */
function promiseOf(hit: Hit, rules: CacheRules, nowMs: number): CachePromise {
  const shortMs = (rules.lifetimes[0]?.seconds ?? 0) * 1000;
  const age = Math.min(...hit.entries.map(({ touchedMs }) => nowMs - touchedMs));
  if (age > shortMs) {
    return hit.entries.some((entry) => isFirm(entry, age)) ? "long lifetimes last" : "steps last";
  }
  const livesByRefresh = hit.entries.every(({ writtenMs, keptMs }) => nowMs - writtenMs > keptMs);
  if (livesByRefresh) return "markers refresh";
  return hit.positionsBack >= farBack ? "lookback finds" : "writes are kept";
}

/** Corrects the known entries: the provider had less or more than assumed. */
function correctEntries(
  { blocks, usage, startMs, rules }: AnsweredCall,
  entries: readonly KnownEntry[],
  { kind, reportedTokens, readEnd }: Judged,
  ruler: Ruler,
): readonly KnownEntry[] {
  const tolerance = countTolerance(reportedTokens);
  if (kind === "read less") {
    return entries.filter(
      (entry) =>
        !isLive(entry, startMs) ||
        blocks.at(entry.block)?.key !== entry.key ||
        entry.block <= readEnd ||
        (entry.tokens ?? ruler(entry.block)) <= reportedTokens + exactTolerance,
    );
  }
  if (kind !== "read more") return entries;
  const block = blockNear(usage.cacheReadTokens, blocks, ruler);
  const key = blocks.at(block)?.key;
  if (key === undefined || Math.abs(ruler(block) - reportedTokens) > tolerance) return entries;
  const times = { writtenMs: startMs, touchedMs: startMs };
  return [...entries, { key, block, ...shortestKept(rules), tokens: reportedTokens, ...times }];
}

/** The least time that entries written by other clients are kept. */
function shortestKept({
  lifetimes,
  automatic,
  markers,
}: CacheRules): Pick<KnownEntry, "lifetime" | "keptMs"> {
  const [short] = lifetimes;
  const isNamed = markers !== null || automatic?.takesMarkerSlot === true;
  return isNamed && short !== undefined
    ? { lifetime: short.lifetime, keptMs: short.seconds * 1000 }
    : { lifetime: null, keptMs: (automatic?.keptSecondsMin ?? 0) * 1000 };
}

/** The block whose end is nearest to a count, by binary search. */
function blockNear(tokens: number, blocks: BlockList, ruler: Ruler): number {
  let low = 0;
  let high = Math.max(0, blocks.length - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ruler(middle) < tokens) low = middle + 1;
    else high = middle;
  }
  const before = low - 1;
  return before >= 0 && tokens - ruler(before) < ruler(low) - tokens ? before : low;
}

/** The place whose tokens the reply reports: the last marker, or the end of the repeated part. */
function measure({ usage, blocks, plan }: AnsweredCall, bill: ExpectedBill): Measured | null {
  const { markers, mode, requestMarker } = plan;
  const isMarked = markers.length > 0 || mode === "implicit" || requestMarker !== null;
  const kept = usage.cacheReadTokens + writtenTokens(usage);
  const isKept = isMarked && kept > 0;
  const last = Math.max(bill.hit?.block ?? -1, ...bill.written.map(({ block }) => block));
  const block = isKept ? last : tailOf(blocks);
  if (block < 0) return null;
  // Our own count covers the text after the tail, which is short.
  const after = (blocks.at(blocks.length - 1)?.endTokens ?? 0) - (blocks.at(block)?.endTokens ?? 0);
  const tokens = isKept ? kept : promptTokens(usage) - after;
  const key = blocks.at(block)?.key;
  return key !== undefined && tokens > 0 ? { key, block, tokens } : null;
}

/** They are stored with every call, so they are few. The longest unused are dropped first. */
const liveMax = 32;
const expiredMax = 16;

function nextEntries(
  known: readonly KnownEntry[],
  bill: ExpectedBill,
  startMs: number,
  exactTokens: ReadonlyMap<number, number>,
  head: number,
): readonly KnownEntry[] {
  const refreshed = new Set(bill.refreshed);
  const counted = (entry: KnownEntry): KnownEntry => {
    const tokens = exactTokens.get(entry.block);
    return tokens === undefined ? entry : { ...entry, tokens };
  };
  const expired: KnownEntry[] = [];
  const live: KnownEntry[] = [];
  const touched: KnownEntry[] = [];
  for (const entry of known) {
    if (bill.written.some((written) => isSame(written, entry))) continue;
    if (refreshed.has(entry)) touched.push(counted({ ...entry, touchedMs: startMs }));
    else (isLive(entry, startMs) ? live : expired).push(entry);
  }
  // Each list is already ordered, longest unused first.
  const used = [...live, ...touched, ...bill.written.map(counted)];
  // After a compaction the prompt begins with tools and system text again, however long they were not marked.
  const isKept = ({ block }: KnownEntry, index: number): boolean =>
    index >= used.length - liveMax || block <= head;
  return [...expired.slice(-expiredMax), ...used.filter(isKept)];
}

/** Blocks with an exact count in the reply: the end of the read part and of the last write. */
function exactTokensOf({ hit, written }: ExpectedBill, usage: Usage): ReadonlyMap<number, number> {
  const exactTokens = new Map<number, number>();
  const read = usage.cacheReadTokens;
  const marked = written.filter(({ lifetime }) => lifetime !== null);
  const last = Math.max(-1, ...marked.map(({ block }) => block));
  if (hit !== null && hit.entries[0]?.lifetime !== null && read > 0)
    exactTokens.set(hit.block, read);
  if (last > (hit?.block ?? -1)) exactTokens.set(last, read + writtenTokens(usage));
  return exactTokens;
}

function isSame(left: KnownEntry, right: KnownEntry): boolean {
  return left.block === right.block && left.lifetime === right.lifetime && left.key === right.key;
}
