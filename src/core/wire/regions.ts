// The three lists of a body whose blocks carry markers: tools, system text and messages, as their bytes with the markers between them.
import { assert } from "../assert.ts";
import type { Assembly } from "../assembly/assemble.ts";
import type { Region } from "../assembly/sealed-block.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { JsonText } from "../message/message.ts";
import type { Lifetime } from "../message/usage.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import { leftOutNote, type EncodeNote } from "./encoded-request.ts";
import { splice, type Insertion } from "./splice.ts";

export interface TakenMarkers {
  readonly plan: Pick<CachePlan, "markers" | "requestMarker">;
  readonly notes: readonly EncodeNote[];
}

/** The plan's markers that the model accepts; a plan for another model must not break the call. */
export function takeMarkers(plan: CachePlan, { cache }: Pick<ModelFacts, "cache">): TakenMarkers {
  const markers = cache.markers === null ? [] : plan.markers;
  const requestMarker = cache.markers?.requestLevel === true ? plan.requestMarker : null;
  const notes: EncodeNote[] = [];
  if (markers.length < plan.markers.length) {
    const detail = `${plan.markers.length} left out: the model takes no markers`;
    notes.push({ kind: "markers-stripped", detail });
  }
  if (requestMarker !== plan.requestMarker) {
    const detail = "the marker for the whole request left out: the model takes none";
    notes.push({ kind: "markers-stripped", detail });
  }
  return { plan: { markers, requestMarker }, notes };
}

type Parts = readonly (string | Uint8Array)[];

export interface EncodedRegions {
  readonly tools: Parts;
  readonly system: Parts;
  readonly messages: Parts;
}

/** Empty if there is nothing to send. `toMarker`: the text that goes to a marker's place, with the comma before it. */
export function encodeRegions(
  assembly: Assembly,
  markers: CachePlan["markers"],
  toMarker: (lifetime: Lifetime) => JsonText,
): EncodedRegions {
  const { thread, volatile } = assembly;
  const { toolBytes, systemBytes } = thread.foundation;
  const insertions = insertionsOf(assembly, markers, toMarker);
  const written = {
    tools: spliceFilled(toolBytes, insertions.tools),
    system: spliceFilled(systemBytes, insertions.system),
    messages: spliceFilled(thread.bytes, insertions.messages),
    volatile: spliceFilled(volatile.bytes, insertions.volatile),
  };
  const isInSystem = assembly.volatilePlace === "system-tail";
  const tail = isInSystem ? [] : written.volatile;
  const isOpen = tail.length > 0 || thread.written.openRole !== null;
  return {
    tools: written.tools,
    system: isInSystem ? [...written.system, ...written.volatile] : written.system,
    messages: [...written.messages, ...tail, isOpen ? "]}" : ""],
  };
}

function spliceFilled(
  bytes: Parameters<typeof splice>[0],
  insertions: readonly Insertion[],
): Parts {
  return bytes.length === 0 ? [] : splice(bytes, insertions);
}

function insertionsOf(
  { sealed }: Assembly,
  markers: CachePlan["markers"],
  toMarker: (lifetime: Lifetime) => JsonText,
): Readonly<Record<Region, readonly Insertion[]>> {
  const insertions: Record<Region, Insertion[]> = {
    tools: [],
    system: [],
    messages: [],
    volatile: [],
  };
  for (const { block: index, lifetime } of markers) {
    const block = sealed.at(index);
    assert(block !== undefined, `marker on block ${index} of ${sealed.length}`);
    const { markerAt, region, kind } = block;
    assert(markerAt !== null, `marker on block ${index}, and a ${kind} cannot carry one`);
    insertions[region].push({ at: markerAt, json: toMarker(lifetime) });
  }
  return insertions;
}

/** What the assembly could not carry: one note for all that the conversation left out, as it may be a block per reply. */
export function leftOutNotes({ thread, leftOut }: Assembly): readonly EncodeNote[] {
  const ofThread = thread.leftOut;
  const last = ofThread.at(ofThread.length - 1);
  const more = ofThread.length === 1 ? "" : ` (and ${ofThread.length - 1} before it)`;
  const joined = last === undefined ? [] : [leftOutNote(last)];
  return [
    ...thread.foundation.leftOut.map(leftOutNote),
    ...joined.map(({ kind, detail }) => ({ kind, detail: detail + more })),
    ...leftOut.map(leftOutNote),
  ];
}
