// Bytes of an event stream → events, wherever the bytes are split.
import { createParser } from "eventsource-parser";
import type { ServerEvent } from "../../core/wire/protocol.ts";

export interface EventReader {
  feed(bytes: Uint8Array): void;
}

/** Opens a reader for one answer. */
export type StreamForm = (onEvent: (event: ServerEvent) => void) => EventReader;

/** Drops an unfinished event after the last blank line, as the standard says. */
export function createEventReader(onEvent: (event: ServerEvent) => void): EventReader {
  // A character may begin in one chunk and end in the next.
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ event, data }) => onEvent({ event, data }) });
  return { feed: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })) };
}

export function isEventStream(contentType: string | undefined): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType ?? "");
}
