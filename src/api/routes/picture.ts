// The cross-section of a session: every call as a column, with what it kept and added.
import { textOrNull, text as textAt, integer } from "../../edge/stores/sql/read-row.ts";
import { toIso } from "../../analytics/time-window.ts";
import { tiers } from "../../core/tokens/budget.ts";
import { callsMax, readPicture } from "../picture/read-picture.ts";
import { toPictureCalls } from "../picture/to-picture.ts";
import type { Asked, Found, Route, Source } from "./route.ts";
import { count, flag, list, moment, named, object, oneOf, orNull, text, usd } from "./schema.ts";

const piece = object({
  tier: oneOf(tiers, "where it is on the wire"),
  section: text("for people, such as `tool Bash`"),
  tokens: count("by our count"),
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
        children: list(
          object({
            session: text("its id"),
            agent: orNull(text("the program or role")),
            started_at: moment("in UTC"),
          }),
          "sessions that it started, oldest first",
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
  const data = {
    session: textAt(session, "id"),
    agent: textOrNull(session, "agent"),
    parent_session: textOrNull(session, "parent_session_id"),
    children: children.map((row) => ({
      session: textAt(row, "id"),
      agent: textOrNull(row, "agent"),
      started_at: toIso(integer(row, "created_ms")),
    })),
    calls: toPictureCalls(stored, catalogue),
  };
  return { body: { data, left_out_count: leftOutCount }, isClosed: false };
}
