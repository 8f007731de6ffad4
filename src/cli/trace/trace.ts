// strata trace: what happened in a session, event by event, with each event below its cause.
import { eventTypes } from "../../core/events/event-catalogue.ts";
import type { StrataEvent } from "../../core/events/event.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import { needSession, useFoundLedger } from "../use-ledger.ts";
import { describeEvent } from "./describe-event.ts";

export const run: CommandBody = (input, io) => {
  const [typed = ""] = input.operands;
  const types = readTypes(input.values.get("type"));
  const turn = input.values.get("turn") ?? null;
  const isJson = input.switches.has("json");
  return useFoundLedger(input, io, async ({ ledger }, place) => {
    const { id } = await needSession(ledger, typed, place);
    const depths = new Map<string, number>();
    let [count, shown] = [0, 0];
    for await (const event of ledger.readEvents({ sessionId: id })) {
      count += 1;
      // Events that are not shown still have a place above others.
      const depth = depthOf(event, depths);
      depths.set(event.id, depth);
      if (types !== null && !types.has(event.type)) continue;
      if (turn !== null && event.turnId !== turn) continue;
      shown += 1;
      io.out(isJson ? toJsonLine(event) : render(event, depth));
    }
    if (turn !== null && shown === 0) await refuseUnknownTurn(ledger, id, turn);
    if (shown === 0 && !isJson)
      io.out(count === 0 ? noEvents : "No stored event fits --type and --turn.\n");
    return 0;
  });
};

const noEvents = "No events are stored: they were swept, or the program stores none.\n";

/** Full types, or their first word for all of a kind. */
function readTypes(text: string | undefined): ReadonlySet<string> | null {
  if (text === undefined) return null;
  const kinds = [...new Set(eventTypes.map(kindOf))];
  return new Set(
    text.split(",").flatMap((part) => {
      const name = part.trim();
      const found = eventTypes.filter((type) => type === name || kindOf(type) === name);
      if (found.length > 0) return found;
      const hint = didYouMean(name, [...kinds, ...eventTypes], "see: docs/events.md", 2);
      throw new StrataError("usage", `there is no event ${JSON.stringify(name)}`, hint);
    }),
  );
}

function kindOf(type: string): string {
  return type.split(".")[0] ?? type;
}

/** The course of a turn goes on from event to event; only what an event caused stands below it. */
function depthOf(event: StrataEvent, depths: ReadonlyMap<string, number>): number {
  const { type, turnId, parentEventId } = event;
  if (turnId === null || type === "turn.started" || type === "turn.resumed") return 0;
  if (ofCourse.has(type)) return 1;
  return (parentEventId === null ? 0 : (depths.get(parentEventId) ?? 0)) + 1;
}

const ofCourse: ReadonlySet<string> = new Set([
  "route.decided",
  "llm.call_started",
  "compaction.started",
  "compaction.skipped",
  ...eventTypes.filter((type) => kindOf(type) === "turn"),
]);

function render(event: StrataEvent, depth: number): string {
  const time = new Date(event.timestampUs / 1000).toISOString().slice(0, 23).replace("T", " ");
  const phrase = describeEvent(event);
  const words = `${"  ".repeat(depth)}${event.type}`;
  return `${time}  ${phrase === "" ? words : `${words.padEnd(nameWidth)}  ${phrase}`}\n`;
}

const nameWidth = 28;

async function refuseUnknownTurn(ledger: Ledger, id: string, turn: string): Promise<void> {
  const known: string[] = [];
  for await (const each of ledger.readTurns({ sessionId: id })) known.push(each.id);
  if (known.includes(turn)) return;
  throw new StrataError(
    "not-found",
    `session ${id} has no turn ${turn}`,
    didYouMean(turn, known, `see: strata sessions show ${id}`),
  );
}
