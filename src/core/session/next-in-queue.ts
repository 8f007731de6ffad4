// Which of the messages that wait get the next turn, and what that turn is about.
import type { QueueConfig } from "../config/schema/queue.ts";
import { toBlocks, type AgentEvent } from "../layers/event.ts";
import type { QueueItem } from "../ledger/queue-record.ts";

/** A queue item with its event as a value. */
export interface ReadItem extends Omit<QueueItem, "eventJson"> {
  readonly event: AgentEvent;
}

/** A turn that handles messages of the queue. */
export interface QueuedTurn {
  /** The id of its first message. */
  readonly id: string;
  readonly event: AgentEvent;
  readonly model: string | null;
  /** Its messages, and dropped ones that it lists in a line. */
  readonly takes: readonly string[];
  /** When it may begin. */
  readonly dueMs: number;
}

/** `items`: in their order. Null if nothing waits. */
export function nextInQueue(
  items: readonly ReadItem[],
  { debounceMs }: Pick<QueueConfig, "debounceMs">,
): QueuedTurn | null {
  const waiting = items.filter(({ status }) => status === "waiting");
  const first = waiting.find(({ mode }) => mode === "interrupt") ?? waiting[0];
  if (first === undefined) return null;
  const isCollected = first.mode === "collect";
  const joined = isCollected ? collected(waiting) : [first];
  const dropped = items.filter(({ status }) => status === "summarized");
  return {
    id: first.id,
    event: withDropped(join(joined), dropped),
    model: first.model,
    takes: [...joined, ...dropped].map(({ id }) => id),
    dueMs: isCollected ? (joined.at(-1) ?? first).queuedMs + debounceMs : first.queuedMs,
  };
}

/** The messages at the front that can share a turn: they differ in their words alone. */
function collected(waiting: readonly ReadItem[]): readonly ReadItem[] {
  const about = ({ mode, model, event }: ReadItem): string =>
    JSON.stringify({ mode, model, ...event, content: null });
  const [first] = waiting;
  const end = waiting.findIndex((item) => first !== undefined && about(item) !== about(first));
  return end === -1 ? waiting : waiting.slice(0, end);
}

function join(items: readonly ReadItem[]): AgentEvent {
  const events = items.map(({ event }) => event);
  const texts = events.flatMap(({ content }) => (typeof content === "string" ? [content] : []));
  const isText = texts.length === events.length;
  const content = isText ? texts.join("\n") : events.flatMap((event) => toBlocks(event.content));
  return { source: "event", ...events[0], content };
}

/** The longest line about a dropped message. */
const lineLengthMax = 160;

function withDropped(event: AgentEvent, dropped: readonly ReadItem[]): AgentEvent {
  if (dropped.length === 0) return event;
  const lines = dropped.map((item) => `- ${toLine(item)}`);
  const text = ["Earlier messages, dropped because the queue was full:", ...lines].join("\n");
  const content = [{ type: "text" as const, text }, ...toBlocks(event.content)];
  return { ...event, content };
}

function toLine({ event }: ReadItem): string {
  const words = toBlocks(event.content).map((block) =>
    block.type === "text" ? block.text : `(${block.type})`,
  );
  const line = words.join(" ").replaceAll(/\s+/g, " ").trim();
  return line.length <= lineLengthMax ? line : `${line.slice(0, lineLengthMax).toWellFormed()}…`;
}
