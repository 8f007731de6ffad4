// The cross-section of a session: every call as a column, with what it kept and added.
import type { ResultRow } from "../../edge/stores/sql/database.ts";
import { textOrNull, text as textAt, integer } from "../../edge/stores/sql/read-row.ts";
import { toUsdText } from "../../analytics/figures.ts";
import { promptTokens } from "../../core/message/usage.ts";
import { toUsage } from "../../edge/stores/ledger/turns/call-rows.ts";
import { moneyOf } from "../../edge/stores/sql/sums.ts";
import { toIso } from "../../analytics/time-window.ts";
import { tiers } from "../../core/tokens/budget.ts";
import { comparePolicies, type ComparedCosts } from "../picture/compare-policies.ts";
import { callsMax, childCallsMax, readPicture, type StoredChild } from "../picture/read-picture.ts";
import { toPictureCalls } from "../picture/to-picture.ts";
import { toConversationFacts } from "../shapes/call-shape.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, flag, list, moment, named, object, oneOf, orNull, text, usd } from "./schema.ts";

const piece = object({
  tier: oneOf(tiers, "where it is on the wire"),
  section: text("for people, such as `tool Bash`"),
  tokens: count("by our count"),
  since: count(
    "the number of the call that first brought it: of an earlier one where it was sent again because the prompt below it changed",
  ),
});

const child = object({
  session: text("its id"),
  agent: orNull(text("the program or role")),
  kind: text("such as sub-agent, title, summary; else its role"),
  model: text("of its latest call"),
  started_at: moment("in UTC"),
  call_count: count("all its calls"),
  cost_usd: usd("all its calls"),
  calls: list(
    object({
      started_at: moment("in UTC"),
      prompt_tokens: count("as billed"),
      read_tokens: count("as billed"),
    }),
    `oldest first; of all sub-agents together at most ${childCallsMax} are listed`,
  ),
});

const call = object({
  call: text("its name in its session, as `/sessions/{session}/calls/{call}` takes it"),
  number: count("from 1, in order of time"),
  started_at: moment("in UTC"),
  model: text("by its usual name"),
  policy: text("who placed the markers: a policy, or `client`"),
  status: text("complete, partial or failed"),
  kept_tokens: count("of the prompt before, by our count"),
  added: list(piece, "what follows, first to last"),
  read_tokens: count("as billed"),
  written_tokens: named(count("as billed"), "by lifetime, the longest first"),
  uncached_tokens: count("as billed at the full price"),
  output_tokens: count("as billed, with thinking"),
  dollars: orNull(
    object(
      {
        read_usd: usd("for reading"),
        written_usd: usd("for writing"),
        uncached_usd: usd("for the rest of the prompt"),
        output_usd: usd("for the reply"),
      },
      "at list prices of that time; null if a price is unknown",
    ),
  ),
  plain_usd: orNull(usd("what it would have cost without a cache; null if a price is unknown")),
  compared_usd: orNull(
    usd("what the policy in `compared` would have paid; null without an account"),
  ),
  markers: list(
    object({
      at_tokens: count("the place, by our count"),
      lifetime: text("such as 5m"),
      reason: orNull(text("why; null for markers of a client")),
    }),
    "first to last",
  ),
  miss: orNull(
    object(
      {
        cause: text("one of the causes of docs/analytics.md"),
        at_tokens: count("where the prompt differs, or is not read any more, by our count"),
        lost_tokens: count("that could have been read"),
        lost_usd: orNull(text("what they cost more; null if a price is unknown")),
        block: orNull(text("for people")),
        byte: orNull(count("the first that differs in that block")),
        detail: orNull(text("such as a setting before and after")),
        advice: text("what would have avoided it"),
      },
      "null if nothing was missed",
    ),
  ),
  is_compacted: flag("the history is much shorter than in the call before"),
});

export const pictureRoutes: readonly Route[] = [
  {
    name: "session_picture",
    method: "GET",
    path: "/sessions/{session}/picture",
    isForKeys: true,
    summary: "The cross-section of a session: what each call kept of its prompt, added and paid",
    query: [],
    answer: object({
      data: object({
        session: text("its id"),
        agent: orNull(text("the program or role")),
        parent_session: orNull(text("the session that started it")),
        client_session: orNull(text("the program's own name for it")),
        children: list(child, "sessions that it started, oldest first"),
        compared: orNull(
          object(
            {
              policy: text("the cheapest of those that the gateway keeps an account of"),
              cost_usd: usd("what it would have paid"),
              paid_usd: usd("what was paid for the same calls"),
              call_count: count("calls that have both"),
            },
            "what another policy would have paid; null where none has an account",
          ),
        ),
        calls: list(call, "oldest first"),
      }),
      left_out_count: count(`calls before those shown: at most ${callsMax} are`),
    }),
    errors: ["session_not_found"],
    example: "/sessions/build/picture",
    read: readSessionPicture,
  },
];

async function readSessionPicture(
  { path, access }: Asked,
  { database, catalogue }: Source,
): Promise<Found> {
  const stored = await database.snapshot((snapshot) =>
    readPicture(snapshot, path["session"] ?? "", access),
  );
  const { session, children, leftOutCount } = stored;
  const compared = comparePolicies(stored.calls);
  const data = {
    session: textAt(session, "id"),
    agent: textOrNull(session, "agent"),
    parent_session: textOrNull(session, "parent_session_id"),
    client_session: clientNameOf(session),
    children: children.map(toChild),
    compared: toCompared(compared),
    calls: toPictureCalls(stored, compared, catalogue),
  };
  return { body: { data, left_out_count: leftOutCount }, isClosed: false };
}

function toChild({ session, sums, calls }: StoredChild): object {
  const { kind } = toConversationFacts(textOrNull(session, "context_json"));
  return {
    session: textAt(session, "id"),
    agent: textOrNull(session, "agent"),
    kind: typeof kind === "string" ? kind : textAt(session, "role"),
    model: textAt(session, "model"),
    started_at: toIso(integer(session, "created_ms")),
    call_count: sums === undefined ? 0 : integer(sums, "call_count"),
    cost_usd: toUsdText(moneyOf(sums, "cost")),
    calls: calls
      .filter((row) => row["uncached_tokens"] !== null)
      .map((row) => {
        const usage = toUsage(row);
        return {
          started_at: toIso(integer(row, "started_ms")),
          prompt_tokens: promptTokens(usage),
          read_tokens: usage.cacheReadTokens,
        };
      }),
  };
}

function toCompared({ policy, costPicoUsd, paidPicoUsd, callCount }: ComparedCosts): object | null {
  if (policy === null || callCount === 0) return null;
  const costs = { cost_usd: toUsdText(costPicoUsd), paid_usd: toUsdText(paidPicoUsd) };
  return { policy, ...costs, call_count: callCount };
}

function clientNameOf(session: ResultRow): string | null {
  const { clientSession } = toConversationFacts(textOrNull(session, "context_json"));
  return typeof clientSession === "string" ? clientSession : null;
}
