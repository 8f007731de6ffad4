// Reads a body with new markers as the provider will: the same blocks as before, and the markers of the plan.
import type { WireMarker } from "../../core/cache/find-hit.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { leavesOut, type ReadDocument } from "../observe/read-body.ts";
import type { Spliced } from "./splice-markers.ts";

export function readsAsPlanned(
  { pieces }: Pick<Spliced, "pieces">,
  { protocol, request, grown }: ReadDocument,
  markers: readonly WireMarker[],
): boolean {
  const text = Buffer.concat(pieces).toString("utf8");
  const left = leavesOut(protocol, grown?.isForVendor === true);
  const after = readRequest(text, { protocol, ...left });
  const isSame =
    after.blocks.length === request.blocks.length &&
    after.blocks.every(({ hash }, at) => hash === request.blocks[at]?.hash);
  return isSame && JSON.stringify(places(after.markers)) === JSON.stringify(places(markers));
}

function places(markers: readonly WireMarker[]): readonly (readonly [number, string])[] {
  return markers
    .map(({ block, lifetime }) => [block, lifetime] as const)
    .toSorted(([left], [right]) => left - right);
}
