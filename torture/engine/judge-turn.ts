// Compares the end of a turn with the ledger and the events.
import { checkTrace } from "../../harness/check-trace.ts";
import type { StrataEvent } from "../../src/core/events/event.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { ProviderFailure } from "../../src/core/wire/failure.ts";

export interface PlayedTurn {
  readonly id: string;
  readonly sessionId: string;
  /** The end in `TurnResult`, or the thrown error. */
  readonly end: string;
  /** The failure of its last call. */
  readonly failure: ProviderFailure | null;
  /** The text its last call streamed. */
  readonly arrived: string;
}

/** The problems found, in words. */
export async function checkTurn(
  { id, end, failure, arrived }: PlayedTurn,
  ledger: Pick<Ledger, "findTurn" | "readCalls" | "readMessages">,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const say = (problem: string): void => void problems.push(`turn ${id} (${end}): ${problem}`);
  const record = await ledger.findTurn(id);
  const last = (await ledger.readCalls(id)).at(-1);
  const isDone = end === "done";
  if (!isDone && end !== "failed") say("ended in neither a reply nor a failure");
  const status = isDone ? "completed" : "failed";
  if (record?.status !== status) say(`is ${record?.status ?? "nowhere"} in the ledger`);
  if (last === undefined) return [...problems, `turn ${id}: no call is in the ledger`];
  if (isDone && last.status !== "complete") say(`its last call is ${last.status}`);
  if (isDone) return problems;
  if (failure === null || failure.detail.trim() === "") say("the failure has no reason");
  if (last.failure?.kind !== failure?.kind)
    say(`the ledger says ${last.failure?.kind ?? "nothing"}`);
  // A reply without text may have been billed, and then counts as partial.
  const isKept = last.status === "partial" || (arrived === "" && last.status === "failed");
  if (!isKept) say(`its last call is ${last.status}`);
  const reply = (await ledger.readMessages(id)).findLast(
    ({ message }) => message.role === "assistant",
  );
  const kept = reply === undefined ? "" : textOf(reply.message);
  if (kept !== arrived) say(`${arrived.length} characters arrived, ${kept.length} are kept`);
  if (reply?.isReplayed === true) say("what was cut off would be sent again");
  return problems;
}

function textOf({ content }: Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** Checks that every turn of a session has one end, and that each event leads back to the start of its turn. */
export function checkEvents(
  turns: readonly PlayedTurn[],
  events: readonly StrataEvent[],
): readonly string[] {
  const problems = checkTrace(events).map(({ rule, message }) => `${rule}: ${message}`);
  const byId = new Map(events.map((event) => [event.id, event]));
  for (const { id, end } of turns) {
    const own = events.filter(({ turnId }) => turnId === id);
    const ends = own.filter(({ type }) => /^turn\.(?:completed|failed|cancelled)$/.test(type));
    const expected = end === "done" ? "turn.completed" : "turn.failed";
    if (ends.length !== 1 || ends[0]?.type !== expected) {
      problems.push(
        `turn ${id}: ${ends.map(({ type }) => type).join(", ") || "no end"}, not ${expected}`,
      );
    }
    const calls = own.filter(({ type }) => type === "llm.call_started").length;
    const settled = own.filter(({ type }) => /^llm\.call_(?:completed|failed)$/.test(type)).length;
    if (calls === 0 || calls !== settled)
      problems.push(`turn ${id}: ${settled} of ${calls} calls are settled`);
    for (const event of own) {
      const root = rootOf(event, byId);
      if (root?.type === "turn.started" && root.turnId === id) continue;
      problems.push(`turn ${id}: ${event.type} goes back to ${root?.type ?? "nothing"}`);
    }
    for (const event of ends) {
      if (event.type !== "turn.failed" || event.payload.error_message_redacted !== "") continue;
      problems.push(`turn ${id}: its event does not say why`);
    }
  }
  return problems;
}

function rootOf(
  event: StrataEvent,
  byId: ReadonlyMap<string, StrataEvent>,
): StrataEvent | undefined {
  let at: StrataEvent | undefined = event;
  for (
    let steps = 0;
    at !== undefined && at.parentEventId !== null && steps < byId.size;
    steps += 1
  ) {
    at = byId.get(at.parentEventId);
  }
  return at;
}
