// What a call cost, what it would have cost otherwise, and why it read less than it could have.
import { settleAccounts, tailLifetimes, type Accounts } from "../../core/cache/accounts.ts";
import type { PolicyName } from "../../core/cache/policy.ts";
import { explainCall } from "../../core/diagnosis/explain-call.ts";
import { nameHost, type Explanation } from "../../core/diagnosis/explanation.ts";
import { viewPrompt, type PromptView } from "../../core/diagnosis/prompt-view.ts";
import {
  rememberView,
  scaledRuler,
  type RememberedCall,
} from "../../core/diagnosis/remember-call.ts";
import type { ContentHash } from "../../core/hash.ts";
import { noUsage, promptTokens, secondsOf, type Usage } from "../../core/message/usage.ts";
import { findSavings, findTotal } from "../../core/models/cost.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import {
  onServiceTier,
  toPricedOtherwise,
  type PricedOtherwise,
} from "../../core/models/service-tiers.ts";
import type { ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import { nameWrites } from "../../core/wire/name-writes.ts";
import type { ReportedUsage } from "../../core/wire/reply.ts";
import type { AnsweredAt, Branch } from "./conversation.ts";

export interface CallToJudge {
  readonly request: ForeignRequest;
  /** Null for a model that is not listed. */
  readonly facts: ModelFacts | null;
  readonly branch: Branch | null;
  readonly accounts: Accounts;
  /** Null if the provider reported none. */
  readonly reported: ReportedUsage | null;
  /** The host that answered; null if it is not said. */
  readonly servedBy: string | null;
  readonly startMs: number;
  /** When other calls can read what it wrote. */
  readonly readableMs: number;
}

export interface Judgement {
  readonly usage: Usage | null;
  readonly reportsCache: boolean;
  readonly costPicoUsd: bigint | null;
  readonly priced: PricedOtherwise;
  readonly plainCostPicoUsd: bigint | null;
  readonly explanation: Explanation | null;
  readonly otherPolicies: readonly { readonly policy: PolicyName; readonly costPicoUsd: bigint }[];
  readonly accounts: Accounts;
  readonly view: PromptView | null;
  readonly remembered: RememberedCall | null;
  readonly answered: AnsweredAt | null;
}

export function judgeCall(call: CallToJudge): Judgement {
  const { facts, reported, branch, accounts } = call;
  if (facts === null) return { ...unknown, ...billOf(reported), accounts };
  const named = reported === null ? null : nameWrites(reported, askedBy(call.request), facts);
  const { remembered = null, answered = null } = branch ?? {};
  const billed = { ...unknown, ...billOf(named), accounts, remembered, answered };
  if (named === null) return billed;
  const { usage } = named;
  const at = { at: call.startMs };
  const priced = (pico: bigint | null): bigint | null =>
    onServiceTier(pico, facts, named.serviceTier);
  const listed = priced(findTotal(usage, facts, at));
  const saved = priced(findSavings(usage, facts, at));
  const costPicoUsd = named.costPicoUsd ?? listed;
  const plainCostPicoUsd = listed === null || saved === null ? null : listed + saved;
  // A request that continues the provider's own copy is not a whole prompt, so it cannot be compared.
  if (call.request.continues) return { ...billed, costPicoUsd, plainCostPicoUsd };
  const view = viewPrompt(call.request, facts, branch?.view ?? null);
  // If reads were not reported, the cache rules say what is kept.
  const known = named.reportsCache ? usage : null;
  const { startMs, readableMs } = call;
  const reply = { usage: known, startMs, readableMs, scale: billedPerCounted(view, usage) };
  return {
    ...billed,
    costPicoUsd,
    plainCostPicoUsd,
    explanation: known === null ? null : explain(call, facts, view, known),
    ...comparePolicies(call, facts, view, usage),
    view,
    remembered: rememberView({
      view,
      rules: facts,
      // Made only for a provider that is told what to keep.
      get entries() {
        return remembered?.entries ?? [];
      },
      ...reply,
    }),
    answered: reply,
  };
}

/** A reply without counts of its cache, such as Gemini's first, still says how long the prompt was. */
function billedPerCounted({ blocks }: PromptView, usage: Usage): number {
  const counted = blocks.at(-1)?.endTokens ?? 0;
  const billed = promptTokens(usage);
  return counted > 0 && billed > 0 ? billed / counted : 1;
}

const unknown: Omit<Judgement, "accounts"> = {
  usage: null,
  reportsCache: false,
  costPicoUsd: null,
  priced: {},
  plainCostPicoUsd: null,
  explanation: null,
  otherPolicies: [],
  view: null,
  remembered: null,
  answered: null,
};

function billOf(
  reported: ReportedUsage | null,
): Pick<Judgement, "usage" | "reportsCache" | "costPicoUsd" | "priced"> {
  if (reported === null) return unknown;
  const { usage, reportsCache, costPicoUsd = null } = reported;
  return { usage, reportsCache, costPicoUsd, priced: toPricedOtherwise(reported) };
}

/** The lifetimes that the client asked for. */
function askedBy({
  markers,
  requestMarker,
  ownLifetime,
}: ForeignRequest): Parameters<typeof nameWrites>[1] {
  return { markers, requestMarker: requestMarker ?? ownLifetime, expected: { writeTokens: {} } };
}

function explain(
  { branch, startMs, servedBy }: CallToJudge,
  rules: ModelFacts,
  view: PromptView,
  usage: Usage,
): Explanation {
  const textBefore = (hash: ContentHash): string | undefined => {
    const text = branch?.blocks.find((block) => block.hash === hash)?.text ?? "";
    return text === "" ? undefined : text;
  };
  const before = branch?.remembered ?? null;
  const found = explainCall({ before, view, rules, usage, startMs, textBefore });
  return nameHost(found, branch?.servedBy ?? null, servedBy);
}

/** What this call would have cost under the policies for which we keep an account of the conversation. */
function comparePolicies(
  { accounts, startMs }: CallToJudge,
  facts: ModelFacts,
  view: PromptView,
  usage: Usage,
): Pick<Judgement, "accounts" | "otherPolicies"> {
  const total = promptTokens(usage);
  const at = { at: startMs };
  const plainPrompt = findTotal({ ...noUsage, uncachedTokens: total }, facts, at);
  const { outputTokens, reasoningTokens } = usage;
  const generated = findTotal({ ...noUsage, outputTokens, reasoningTokens }, facts, at);
  if (plainPrompt === null || generated === null || total === 0) {
    return { accounts, otherPolicies: [] };
  }
  const priced = (policy: PolicyName, tokens: number): Judgement["otherPolicies"][number] => ({
    policy,
    costPicoUsd: generated + share(plainPrompt, tokens / total),
  });
  const { cache } = facts;
  const lifetimes = tailLifetimes(cache);
  const plain = priced("none", total);
  if (lifetimes === null || view.blocks.length === 0) return { accounts, otherPolicies: [plain] };
  const ruler = scaledRuler(view, usage);
  const tail = view.blocks.length - 1;
  const question = { blocks: view.blocks, rules: cache, ruler, tail, nowMs: startMs };
  const after = settleAccounts(accounts, question, usage);
  const paidNow = (name: keyof Accounts["paid"]): number => after.paid[name] - accounts.paid[name];
  return {
    accounts: after,
    otherPolicies: [
      priced("tail-5m", paidNow("short tail")),
      // The policy uses no lifetime above this one.
      ...(lifetimes.long.seconds > secondsOf["1h"]
        ? []
        : [priced("tail-1h", paidNow("long tail"))]),
      plain,
    ],
  };
}

/** A policy's tokens are weighted by their prices, so they may be fractions. */
function share(picoUsd: bigint, part: number): bigint {
  return (picoUsd * BigInt(Math.round(part * 1e9))) / 1_000_000_000n;
}
