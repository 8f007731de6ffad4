// Assembly + plan → request body. Repeats the bytes of earlier calls and inserts markers.
import { assert } from "../../assert.ts";
import type { Assembly } from "../../assembly/assemble.ts";

import type { Region } from "../../assembly/sealed-block.ts";
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { checkOptions } from "../check-options.ts";
import {
  leftOutNote,
  toRequest,
  type EncodedRequest,
  type EncodeNote,
} from "../encoded-request.ts";
import type { CallOptions, CallToEncode } from "../protocol.ts";
import { splice, type Insertion } from "../splice.ts";
import { encodeOptions } from "./options.ts";
import { markerJson, messagesPath, versionHeader, type MessagesRequest } from "./schema.ts";

export function encodeRequest(call: CallToEncode): EncodedRequest<MessagesRequest> {
  const { assembly, plan, model, options } = call;
  checkOptions(options);
  const { thread } = assembly;
  const taken = takeMarkers(plan, model);
  const regions = encodeRegions(assembly, taken.plan.markers);
  const { members, notes } = encodeOptions(options, model, {
    requestMarker: taken.plan.requestMarker,
    hasTools: regions.tools.length > 0,
  });
  const parts: (string | Uint8Array)[] = [
    `{"model":${JSON.stringify(options.modelName ?? model.sentAs ?? model.id)}`,
    `,"max_tokens":${options.outputTokensMax}`,
    options.stream ? ',"stream":true' : "",
  ];
  if (regions.tools.length > 0) parts.push(',"tools":[', ...regions.tools, "]");
  if (regions.system.length > 0) parts.push(',"system":[', ...regions.system, "]");
  parts.push(',"messages":[', ...regions.messages, "]");
  for (const [name, json] of members) parts.push(`,${JSON.stringify(name)}:${json}`);
  if (call.diagnose === true) {
    const previous = JSON.stringify(call.previousReplyId ?? null);
    parts.push(`,"diagnostics":{"previous_message_id":${previous}}`);
  }
  parts.push("}");
  return toRequest({
    path: messagesPath,
    parts,
    ...headersOf(assembly, options),
    notes: [
      ...taken.notes,
      ...notes,
      ...thread.foundation.leftOut.map(leftOutNote),
      ...leftOutNotes(thread.leftOut),
      ...assembly.leftOut.map(leftOutNote),
    ],
  });
}

interface TakenMarkers {
  readonly plan: Pick<CachePlan, "markers" | "requestMarker">;
  readonly notes: readonly EncodeNote[];
}

/** The plan's markers that the model accepts; a plan for another model must not break the call. */
function takeMarkers(plan: CachePlan, { cache }: ModelFacts): TakenMarkers {
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

interface EncodedRegions {
  readonly tools: Parts;
  readonly system: Parts;
  readonly messages: Parts;
}

/** Empty if there is nothing to send. */
function encodeRegions(assembly: Assembly, markers: CachePlan["markers"]): EncodedRegions {
  const { thread, volatile } = assembly;
  const { toolBytes, systemBytes } = thread.foundation;
  const insertions = insertionsOf(assembly, markers);
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
    insertions[region].push({ at: markerAt, json: `,"cache_control":${markerJson(lifetime)}` });
  }
  return insertions;
}

function headersOf(
  { thread }: Assembly,
  options: CallOptions,
): Required<Pick<EncodedRequest, "headers" | "betas">> {
  const betas = [...new Set([...(thread.written.betas ?? []), ...(options.betas ?? [])])];
  const version = { "anthropic-version": versionHeader };
  const headers = betas.length === 0 ? version : { ...version, "anthropic-beta": betas.join(",") };
  return { headers, betas };
}

/** One note for all of them: a long conversation may leave out one block per reply. */
function leftOutNotes(leftOut: Assembly["thread"]["leftOut"]): EncodeNote[] {
  const last = leftOut.at(leftOut.length - 1);
  if (last === undefined) return [];
  const more = leftOut.length === 1 ? "" : ` (and ${leftOut.length - 1} before it)`;
  const { kind, detail } = leftOutNote(last);
  return [{ kind, detail: detail + more }];
}
