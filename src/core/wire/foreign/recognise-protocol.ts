// Finds the protocol of a request: by its address, by members that only one protocol has, by its model.
import type { Protocol } from "../protocol.ts";
import { protocols } from "../protocols.ts";
import type { SeenRequest } from "./foreign-reader.ts";

/**
 * Undefined if no protocol fits. Among those that fit, the address decides, then what only one of them has, then the
 * model.
 */
export function recogniseProtocol(
  seen: SeenRequest,
  rows: readonly Protocol[] = protocols,
): Protocol | undefined {
  const ranked = rows
    .filter(({ foreign }) => foreign.fits(seen.body))
    .map((protocol) => ({ protocol, rank: rankOf(protocol, seen) }));
  return ranked.toSorted((left, right) => right.rank - left.rank)[0]?.protocol;
}

/** Each sign outweighs all that follow it. */
function rankOf({ foreign }: Protocol, seen: SeenRequest): number {
  const address = foreign.isSentTo(seen) ? 8 : 0;
  const signs = foreign.hasSigns(seen.body) ? 4 : 0;
  const { usualModels } = foreign;
  if (usualModels === null) return address + signs + 1;
  return address + signs + (usualModels.test(foreign.modelOf(seen)) ? 2 : 0);
}

/** Finds a protocol by another program's name for it. */
export function findProtocolCalled(
  name: string,
  rows: readonly Protocol[] = protocols,
): Protocol | undefined {
  return rows.find(({ foreign }) => foreign.otherNames.test(name));
}
