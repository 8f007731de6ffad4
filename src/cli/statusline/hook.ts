// strata hook: answers of ours to hooks of Claude Code. It never stands in the way: without an answer, it says nothing.
import { randomBytes } from "node:crypto";
import { completeEvent, type EventOf } from "../../core/events/event.ts";
import { createEventIds } from "../../core/events/event-ids.ts";
import { countIn, textIn, type Fields } from "../../core/message/fields.ts";
import { noUsage, type Usage } from "../../core/message/usage.ts";
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import { findTotal } from "../../core/models/cost.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { createLedgerClient } from "../../api/reader/ledger-client.ts";
import { closing, openStore } from "../../edge/stores/open-store.ts";
import { formatNumber } from "../../replay/format-figures.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { atPlace, createOnProblem } from "../use-ledger.ts";
import { readGiven } from "./read-given.ts";
import { findConversations } from "./session-facts.ts";

export const run: CommandBody = async (input, io) => {
  const given = await readGiven();
  try {
    if (given?.["hook_event_name"] === "PreModelSwitch") {
      const message = priceSwitch(given, Date.now());
      if (message !== null) io.out(`${JSON.stringify({ systemMessage: message })}\n`);
    }
    if (given?.["hook_event_name"] === "PostCompact") await recordCompaction(given, input, io);
  } catch (error) {
    createOnProblem(io)(error);
  }
  return 0;
};

/** What the next prompt costs on either model; null where there is nothing to lose, or no price. */
export function priceSwitch(given: Fields, nowMs: number): string | null {
  const [from, to] = [textIn(given, "from_model"), textIn(given, "to_model")];
  const tokens = countIn(given, "context_tokens") ?? 0;
  if (from === undefined || to === undefined || from === to || tokens === 0) return null;
  const isWarm = given["prompt_cache_warm"] === true;
  const lifetime = given["cache_ttl"] === "1h" ? "1h" : "5m";
  const write: Usage = { ...noUsage, cacheWriteTokens: { [lifetime]: tokens } };
  const read: Usage = { ...noUsage, cacheReadTokens: tokens };
  const there = priceOf(to, write, nowMs);
  const here = priceOf(from, isWarm ? read : write, nowMs);
  if (there === null || here === null) return null;
  const size = `${formatNumber(tokens)} tokens`;
  const stay = isWarm ? `reading them on ${from}` : `writing them again on ${from}, which is cold,`;
  return `Strata: caches are kept per model. ${to} writes ${size} for ${formatUsdRounded(there, 4)}; ${stay} costs ${formatUsdRounded(here, 4)}.`;
}

function priceOf(model: string, usage: Usage, nowMs: number): bigint | null {
  const found = findModel(model, builtInCatalogue);
  return found === null ? null : findTotal(usage, found.facts, { at: nowMs });
}

/** The gateway sees a summary as one more question; the client knows what it was for. */
async function recordCompaction(given: Fields, input: CommandInput, io: Io): Promise<void> {
  const clientSession = textIn(given, "session_id");
  if (clientSession === undefined) return;
  await atPlace(input, io, async ({ where }) => {
    const client = createLedgerClient({ store: where, models: null });
    const conversations = await closing(client, () => findConversations(client, clientSession));
    const [main] = conversations;
    const store = main === undefined ? null : await openStore(where);
    if (main === undefined || store === null) return 0;
    await closing(store.ledger, () => store.ledger.appendEvents([toEvent(main.session, given)]));
    return 0;
  });
}

function toEvent(sessionId: string, given: Fields): EventOf<"gateway.compacted"> {
  const nowMs = Date.now();
  const payload = {
    client: "claude-code",
    trigger: given["trigger"] === "manual" ? "manual" : "auto",
    summary_size_bytes: Buffer.byteLength(textIn(given, "compact_summary") ?? ""),
  } as const;
  return completeEvent(
    { type: "gateway.compacted", sessionId, payload },
    { id: createEventIds().next(nowMs, randomBytes(10)), timestampUs: nowMs * 1000 },
  );
}
