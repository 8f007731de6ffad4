// What the cheapest of the policies that the gateway keeps an account of would have paid for a session, call by call.
import { fieldsIn, fieldsOf, listOf, parseFields, textIn } from "../../core/message/fields.ts";
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { moneyOrNull, text } from "../../edge/stores/sql/read-row.ts";

export interface ComparedCosts {
  /** Null where nothing can be compared. */
  readonly policy: string | null;
  /** Sums over the calls that have both costs. */
  readonly costPicoUsd: bigint;
  readonly paidPicoUsd: bigint;
  readonly callCount: number;
  /** In the order of the calls; null where the policy has no account of one. */
  readonly ofCalls: readonly (bigint | null)[];
}

/** Not a policy to recommend: it is what caching is compared with elsewhere. */
const noCaching = "none";

export function comparePolicies(calls: readonly ResultRow[]): ComparedCosts {
  const accounts = calls.map(accountsOf);
  const sums = new Map<string, bigint>();
  for (const account of accounts) {
    for (const [policy, cost] of account) sums.set(policy, (sums.get(policy) ?? 0n) + cost);
  }
  sums.delete(noCaching);
  const [cheapest] = [...sums].toSorted(([, left], [, right]) => Number(left - right));
  const policy = cheapest?.[0] ?? null;
  const paid = calls.map((row) => moneyOrNull(row, "cost_pico_usd"));
  const ofCalls = accounts.map((account, index) =>
    policy === null || paid[index] === null ? null : (account.get(policy) ?? null),
  );
  const compared = ofCalls.flatMap((cost, index) =>
    cost === null ? [] : [{ cost, paid: paid[index] ?? 0n }],
  );
  return {
    policy,
    costPicoUsd: compared.reduce((sum, { cost }) => sum + cost, 0n),
    paidPicoUsd: compared.reduce((sum, each) => sum + each.paid, 0n),
    callCount: compared.length,
    ofCalls,
  };
}

const nothing: ReadonlyMap<string, bigint> = new Map();

function accountsOf(row: ResultRow): ReadonlyMap<string, bigint> {
  const outcome = text(row, "outcome_json");
  if (!outcome.includes('"otherPolicies":[{')) return nothing;
  const gateway = fieldsIn(parseFields(outcome) ?? {}, "gateway");
  return new Map(
    listOf(gateway["otherPolicies"]).flatMap((each) => {
      const account = fieldsOf(each);
      const [policy, cost] = [textIn(account, "policy"), textIn(account, "costPicoUsd")];
      return policy === undefined || cost === undefined || !/^\d+$/.test(cost)
        ? []
        : [[policy, BigInt(cost)] as const];
    }),
  );
}
