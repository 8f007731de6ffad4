// What the ledger knows of a client's session: its conversations, their cost, what was read, and the last miss.
import type { ApiClient, ApiResult } from "../../api/client/open-client.ts";
import { parseUsdText } from "../../analytics/figures.ts";
import { StrataError } from "../../core/strata-error.ts";

export interface SessionFacts {
  /** The main conversation. */
  readonly session: string;
  readonly costPicoUsd: bigint;
  /** Read ÷ prompt over the latest calls; null without usage. */
  readonly hitRate: number | null;
  readonly warmUntil: string | null;
  readonly miss: LastMiss | null;
}

export interface LastMiss {
  readonly cause: string;
  readonly lostTokens: number;
  readonly lostCostUsd: string | null;
}

/** Everything that the ledger has. */
const from = "1970-01-01";

/** Its conversations, sub-agents and questions beside it; the main one first. Empty if none was seen. */
export async function findConversations(
  client: ApiClient,
  clientSession: string,
): Promise<readonly { readonly session: string; readonly cost_usd: string }[]> {
  const query = { from, search: clientSession, limit: 1000 };
  const { data } = await answerOf(client.ask("session_list", { query }));
  const own = data.filter((each) => each.client_session === clientSession);
  const isMain = (each: (typeof own)[number]): boolean =>
    each.parent_session === null && each.kind === "conversation";
  return [...own.filter(isMain), ...own.filter((each) => !isMain(each))];
}

/** Null if no call of it was seen. */
export async function readSessionFacts(
  client: ApiClient,
  clientSession: string,
): Promise<SessionFacts | null> {
  const own = await findConversations(client, clientSession);
  const [main] = own;
  if (main === undefined) return null;
  const { session } = main;
  const calls = await answerOf(client.ask("call_list", { query: { from, session, limit: 200 } }));
  const misses = await answerOf(client.ask("miss_list", { query: { from, session, limit: 1 } }));
  const warm = await answerOf(client.ask("warmth", { query: { session } }));
  const [miss] = misses.data;
  const [warmth] = warm.data;
  return {
    session,
    costPicoUsd: own.reduce((sum, { cost_usd: usd }) => sum + (parseUsdText(usd) ?? 0n), 0n),
    hitRate: hitRateOf(calls.data),
    warmUntil: warmth?.is_warm === true ? warmth.warm_until : null,
    miss:
      miss === undefined
        ? null
        : { cause: miss.cause, lostTokens: miss.lost_tokens, lostCostUsd: miss.lost_cost_usd },
  };
}

interface CallTokens {
  readonly uncached_input_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cache_creation_tokens: number | null;
}

function hitRateOf(calls: readonly CallTokens[]): number | null {
  let read = 0;
  let prompt = 0;
  for (const call of calls) {
    const own = call.cached_input_tokens ?? 0;
    read += own;
    prompt += own + (call.uncached_input_tokens ?? 0) + (call.cache_creation_tokens ?? 0);
  }
  return prompt === 0 ? null : read / prompt;
}

async function answerOf<Answer>(asked: Promise<ApiResult<Answer>>): Promise<Answer> {
  const result = await asked;
  if (result.kind === "answer") return result.answer;
  const { message, hint } = result.error;
  throw new StrataError("store-unavailable", message, hint);
}
