// Whether a repaired request means the same: the same tools as a set, the same lines of system text, the same messages.
import { isObject } from "../../core/message/fields.ts";
import type { RepairName } from "../../core/wire/foreign/foreign-reader.ts";
import type { ForeignBlock, ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";

export interface RepairsDone {
  readonly repairs: readonly RepairName[];
  /** Hashes of blocks that are gone. */
  readonly dropped: readonly string[];
  /** Text that stands behind everything else now; null for none. */
  readonly moved: string | null;
}

/** Two lists of tools as text with one character for each byte. */
export function toolsMeanTheSame(
  before: string,
  after: string,
  markerNames: readonly string[],
): boolean {
  const [old, now] = [before, after].map((source) => setOf(source, markerNames));
  return old !== undefined && old === now;
}

function setOf(source: string, markerNames: readonly string[]): string {
  const tools: unknown = JSON.parse(source);
  if (!Array.isArray(tools)) return "";
  const markers = tools.flatMap((tool: unknown) =>
    isObject(tool) ? markerNames.flatMap((name) => (name in tool ? [tool[name]] : [])) : [],
  );
  const bare = tools.map((tool: unknown) => {
    if (!isObject(tool)) return sorted(tool);
    const kept = Object.entries(tool).filter(([name]) => !markerNames.includes(name));
    return sorted(Object.fromEntries(kept));
  });
  // The order of keys and of tools means nothing, everything else does.
  return JSON.stringify([bare.map((tool) => JSON.stringify(tool)).toSorted(), markers]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sorted(each)] as const);
  return Object.fromEntries(entries.toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Reads of both bodies. Tools are compared where they are repaired. */
export function meansTheSame(
  before: ForeignRequest,
  after: ForeignRequest,
  { dropped, moved }: RepairsDone,
): boolean {
  const [old, now] = [before, after].map(({ blocks }) => byTier(blocks));
  if (old === undefined || now === undefined) return false;
  const kept = old.system.filter(({ hash }) => !dropped.includes(hash));
  return (
    after.model === before.model &&
    after.continues === before.continues &&
    after.markers.length === before.markers.length &&
    JSON.stringify(after.settings) === JSON.stringify(before.settings) &&
    sameTexts(old.tools.map(nameOf), now.tools.map(nameOf)) &&
    sameTexts(linesOf(kept), [...linesOf(now.system), ...(moved?.split("\n") ?? [])]) &&
    sameMessages(old.messages, now.messages, moved)
  );
}

interface Tiers {
  readonly tools: readonly ForeignBlock[];
  readonly system: readonly ForeignBlock[];
  readonly messages: readonly ForeignBlock[];
}

function byTier(blocks: readonly ForeignBlock[]): Tiers {
  return {
    tools: blocks.filter(({ tier }) => tier === "T0"),
    system: blocks.filter(({ tier }) => tier === "T1"),
    messages: blocks.filter(({ tier }) => tier === "T3"),
  };
}

function nameOf({ section }: ForeignBlock): string {
  return section;
}

function linesOf(blocks: readonly ForeignBlock[]): readonly string[] {
  return blocks.flatMap(({ text }) => text.split("\n"));
}

function sameTexts(before: readonly string[], after: readonly string[]): boolean {
  return JSON.stringify(before.toSorted()) === JSON.stringify(after.toSorted());
}

/** All of them in their order, and what was moved behind them or into the last one of the user. */
function sameMessages(
  before: readonly ForeignBlock[],
  after: readonly ForeignBlock[],
  moved: string | null,
): boolean {
  const first = before.findIndex(({ hash }, at) => hash !== after[at]?.hash);
  const at = first === -1 ? before.length : first;
  const added = moved === null ? 0 : 1;
  if (after.length !== before.length + added) return false;
  if (moved !== null && after[at]?.text !== moved) return false;
  return before.slice(at).every(({ hash }, index) => hash === after[at + added + index]?.hash);
}
