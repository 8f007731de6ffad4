// Assembly + plan → the body of a Converse request. Repeats the bytes of earlier calls and inserts cache points.
import { nameOfModel } from "../../anthropic-messages/encode.ts";
import { checkOptions } from "../../check-options.ts";
import { toRequest, type EncodedRequest } from "../../encoded-request.ts";
import type { CallPlace, CallToEncode } from "../../protocol.ts";
import { encodeRegions, leftOutNotes, takeMarkers } from "../../regions.ts";
import { modelPath } from "../model-path.ts";
import { encodeOptions } from "./options.ts";
import { cachePointJson, type ConverseRequest } from "./schema.ts";

export function conversePath({ model, stream }: CallPlace): string {
  return modelPath(model, stream ? "converse-stream" : "converse");
}

export function encodeRequest(call: CallToEncode): EncodedRequest<ConverseRequest> {
  const { assembly, plan, model, options } = call;
  checkOptions(options);
  const taken = takeMarkers(plan, model);
  const regions = encodeRegions(
    assembly,
    taken.plan.markers,
    (lifetime) => `,${cachePointJson(lifetime)}`,
  );
  const hasTools = regions.tools.length > 0;
  const betas = [...new Set([...(assembly.thread.written.betas ?? []), ...(options.betas ?? [])])];
  const asked = encodeOptions(options, model, { hasTools, betas });
  const parts: (string | Uint8Array)[] = ["{"];
  if (hasTools) {
    const choice = asked.toolChoice === undefined ? "" : `,"toolChoice":${asked.toolChoice}`;
    parts.push('"toolConfig":{"tools":[', ...regions.tools, `]${choice}},`);
  }
  if (regions.system.length > 0) parts.push('"system":[', ...regions.system, "],");
  parts.push('"messages":[', ...regions.messages, "]");
  for (const [name, json] of asked.members) parts.push(`,${JSON.stringify(name)}:${json}`);
  parts.push("}");
  return toRequest({
    path: conversePath({ model: nameOfModel(call), stream: options.stream }),
    parts,
    headers: { accept: options.stream ? framesType : "application/json" },
    betas,
    notes: [...taken.notes, ...asked.notes, ...leftOutNotes(assembly)],
  });
}

const framesType = "application/vnd.amazon.eventstream";
