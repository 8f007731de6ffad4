// The markers of a request: explicit ones, the request-level one, and their limits.
import type { BillableMarker } from "../billing/billable-request.ts";
import type { ReadMark } from "./request/read-blocks.ts";
import type { MessagesRequest } from "./request/read-request.ts";
import { invalid, invented } from "./refusal.ts";
import type { PromptUnit } from "./render/render-units.ts";

/** Refuses too many explicit markers, and 1h after 5m in the provider's order. */
export function validateMarks({ tools, system, messages, facts }: MessagesRequest): void {
  const marks = [
    ...tools.flatMap(({ mark }) => (mark === null ? [] : [mark])),
    ...system.flatMap((block) => block.marks),
    ...messages.flatMap(({ blocks }) => blocks.flatMap((block) => block.marks)),
  ];
  const marksMax = facts.cache.markers?.markersMax ?? 4;
  if (marks.length > marksMax)
    throw invalid(
      `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  const firstShort = marks.findIndex(({ ttl }) => ttl === "5m");
  const late =
    firstShort === -1 ? undefined : marks.slice(firstShort).find(({ ttl }) => ttl === "1h");
  if (late !== undefined) throw outOfOrder(late);
}

export function placeMarkers(
  units: readonly PromptUnit[],
  request: MessagesRequest,
): readonly BillableMarker[] {
  const explicit = units.flatMap(({ marks }, block): BillableMarker[] => {
    if (marks.length === 0) return [];
    // Several markers inside one block end at the same place; the longest lifetime wins.
    const lifetime = marks.some(({ ttl }) => ttl === "1h") ? "1h" : "5m";
    return [{ block, lifetime, origin: "explicit" }];
  });
  const { automatic } = request;
  if (automatic === null) return explicit;
  return [...explicit, ...automaticMarker(units, automatic, request)].toSorted(
    (left, right) => left.block - right.block,
  );
}

/** On the last block that can carry a marker; none without such a block. */
function automaticMarker(
  units: readonly PromptUnit[],
  automatic: ReadMark,
  { facts }: MessagesRequest,
): readonly BillableMarker[] {
  const block = units.findLastIndex(({ mayBeMarked }) => mayBeMarked);
  const there = units[block];
  if (there === undefined) return [];
  const own = there.marks.at(-1);
  if (own !== undefined && own.ttl === automatic.ttl) return [];
  if (own !== undefined)
    throw invented(
      `cache_control: ttl='${automatic.ttl}' conflicts with the ttl='${own.ttl}' cache_control on the last block`,
    );
  const marks = units.flatMap((unit) => unit.marks);
  const marksMax = facts.cache.markers?.markersMax ?? 4;
  if (marks.length >= marksMax)
    throw invented(
      `cache_control: automatic caching needs one of the ${marksMax} cache_control slots, and all are taken`,
    );
  if (automatic.ttl === "1h" && marks.some(({ ttl }) => ttl === "5m")) throw outOfOrder(automatic);
  return [{ block, lifetime: automatic.ttl, origin: "automatic" }];
}

function outOfOrder({ path }: ReadMark): Error {
  return invalid(
    `${path}.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
  );
}
