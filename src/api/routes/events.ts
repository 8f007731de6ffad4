// Events: pages in the order in which they became visible, and the same as a stream.
import { isEventType } from "../../core/events/event-catalogue.ts";
import { refuseWith } from "../answer/api-error.ts";
import { eventMembers, toLiveEvent } from "../shapes/event-shape.ts";
import { parsePage } from "./paging.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, list, object, orNull, type Schema } from "./schema.ts";

const page: Schema = object({
  data: list(object(eventMembers), "oldest first"),
  next_after: count(
    "for the parameter `after` of the next page; it moves on where nothing was found, too",
  ),
  oldest_position: orNull(count("the first event that is kept; null if there is none")),
  newest_position: count("the last event that is visible"),
  left_out_count: count("events of types that a later version of Strata wrote"),
});

export const eventRoutes: readonly Route[] = [
  {
    name: "event_list",
    method: "GET",
    path: "/events",
    summary: "Events in the order in which they became visible, from a position on",
    query: ["after", "types", "session", "limit"],
    answer: page,
    errors: ["invalid_cursor", "invalid_limit"],
    example: "/events?after=0&limit=10",
    read: listEvents,
  },
  {
    name: "event_stream",
    method: "GET",
    path: "/events/stream",
    summary:
      "The same as server-sent events, as they come. `Last-Event-ID` or `after` goes on after a position; without one it begins now. A message `missed` says which positions a slow reader did not get: read them with `GET /strata/v1/events`",
    query: ["after", "types", "session"],
    answer: { type: "string", description: "server-sent events; the data of each is an event" },
    errors: ["invalid_cursor"],
    example: "/events/stream?types=gateway.call,cache.miss",
    isStream: true,
  },
];

async function listEvents({ query }: Asked, { feed }: Source): Promise<Found> {
  const { limit } = parsePage(query.limit === undefined ? {} : { limit: query.limit });
  const wanted = parseWanted(query);
  const { oldest, newest, settled } = await feed.ends();
  const after = parsePosition(query.after) ?? 0;
  const placed = await feed.read({ after, upTo: settled, limit });
  const last = placed.at(-1)?.position ?? after;
  const found = placed.map(toLiveEvent).filter((event) => event !== null);
  return {
    body: {
      data: found.filter((event) => wanted(event)),
      // A full page may be followed by another one.
      next_after: placed.length < limit ? Math.max(after, settled) : last,
      oldest_position: oldest,
      newest_position: newest,
      left_out_count: placed.length - found.length,
    },
    isClosed: false,
  };
}

export type IsWanted = (event: { readonly type: string; readonly session: string }) => boolean;

export function parseWanted({ types, session }: Asked["query"]): IsWanted {
  const listed = (types ?? "").split(",").filter((type) => type !== "");
  const unknown = listed.find((type) => !isEventType(type));
  if (unknown !== undefined) {
    throw refuseWith(
      "invalid_parameter",
      "types names one that events do not have",
      "see docs/events.md, and put commas between",
    );
  }
  const wanted = new Set(listed);
  return (event) =>
    (wanted.size === 0 || wanted.has(event.type)) &&
    (session === undefined || event.session === session);
}

/** Null without one. */
export function parsePosition(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  const position = Number(text);
  if (/^\d{1,15}$/.test(text)) return position;
  throw refuseWith(
    "invalid_cursor",
    "the position is no whole number",
    "give the id of the last event that came, or leave it out",
  );
}
