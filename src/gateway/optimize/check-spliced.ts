// Reads a body with new markers as the provider will, and checks for the same blocks as before and the planned markers.
import type { WireMarker } from "../../core/cache/find-hit.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import { leavesOut, type ReadDocument } from "../observe/read-body.ts";
import type { Spliced } from "../repair/splice-edits.ts";

/** Reading a body again takes as long as reading it first, so only one of many is checked. */
const checkedEvery = 32;
const checkedBytesMax = 1024 * 1024;

/** `before`: how many earlier bodies of the conversation were sent with our markers. */
export function isRight(
  spliced: Spliced,
  document: ReadDocument,
  markers: readonly WireMarker[],
  before: number,
): boolean {
  const isChecked = before % checkedEvery === 0 && spliced.byteLength <= checkedBytesMax;
  return !isChecked || readsAsPlanned(spliced, document, markers);
}

function readsAsPlanned(
  { pieces }: Spliced,
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
