// The name of a lease holder: readable, unique per turn or compaction, and enough to detect that its process ended.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { hashContent } from "../../../core/hash.ts";
import { identifySelf, isGone, isPlaceCertain } from "../process-identity.ts";

/** For a custom name, the process cannot be checked. */
export function newHolder(name?: string): string {
  const token = randomUUID().slice(0, 8);
  if (name !== undefined) return `${name}:${token}`;
  ownName ??= nameSelf();
  return `${ownName.before}:${token}${ownName.after}`;
}

/** The name of this process, around the token. */
let ownName: { readonly before: string; readonly after: string } | null = null;

function nameSelf(): NonNullable<typeof ownName> {
  const { pid, place, started } = identifySelf();
  return { before: `${hostname()}:${pid}`, after: `@${shorten(place)}.${started ?? ""}` };
}

/** Leases of this process that it no longer uses and could not give back: the store failed. */
const givenUp = new Set<string>();

/** If the work fails, this process takes the holder's lease as free, before it expires. */
export async function orGiveUp<T>(holder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    givenUp.add(holder);
    throw error;
  }
}

/** True only if it is certain: this process gave it up, or its process was on this machine and has ended. */
export function isHolderGone(holder: string): boolean {
  if (givenUp.has(holder)) return true;
  const [, pid, place, started] = /:(\d+):[0-9a-f]{8}@([0-9a-f]{16})\.(\d*)$/.exec(holder) ?? [];
  const self = identifySelf();
  if (!isPlaceCertain(self)) return false;
  if (pid === undefined || started === undefined || place !== shorten(self.place)) return false;
  const identity = {
    pid: Number(pid),
    place: self.place,
    started: started === "" ? null : started,
  };
  return isGone(identity, self);
}

function shorten(place: string): string {
  return hashContent(place).slice(0, 16);
}
