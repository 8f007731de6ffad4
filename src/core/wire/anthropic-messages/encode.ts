// Assembly + plan → request body. Repeats the bytes of earlier calls and inserts markers.
import type { JsonText } from "../../message/message.ts";
import { checkOptions } from "../check-options.ts";
import { toRequest, type EncodedRequest } from "../encoded-request.ts";
import type { CallToEncode } from "../protocol.ts";
import { encodeRegions, leftOutNotes, takeMarkers } from "../regions.ts";
import { encodeOptions } from "./options.ts";
import { markerJson, messagesPath, versionHeader, type MessagesRequest } from "./schema.ts";

/** The encoding of a Messages API body: for the API itself, or for a cloud that carries such bodies. */
export type EncodeBody = (call: CallToEncode) => EncodedRequest;

/** What differs between the API and the clouds. */
export interface BodyPlace {
  readonly path: string;
  /** The members that the body begins with. */
  readonly head: string;
  readonly headers: EncodedRequest["headers"];
  /** Where the names of beta features go: into a header, or into a member of the body. */
  readonly betas: { readonly header: string } | { readonly member: string };
  /** Members that the place writes itself. `extraJson` cannot replace them. */
  readonly ownMembers: readonly string[];
}

export function encodeRequest(call: CallToEncode): EncodedRequest<MessagesRequest> {
  const { options, diagnose, previousReplyId = null } = call;
  const name = JSON.stringify(nameOfModel(call));
  const stream = options.stream ? ',"stream":true' : "";
  return encodeBody(
    call,
    {
      path: messagesPath,
      head: `"model":${name},"max_tokens":${options.outputTokensMax}${stream}`,
      headers: { "anthropic-version": versionHeader },
      betas: { header: betaHeader },
      ownMembers: [],
    },
    diagnose === true
      ? `,"diagnostics":{"previous_message_id":${JSON.stringify(previousReplyId)}}`
      : "",
  );
}

export const betaHeader = "anthropic-beta";

/** As the provider spells it. */
export function nameOfModel({ model, options }: Pick<CallToEncode, "model" | "options">): string {
  return options.modelName ?? model.sentAs ?? model.id;
}

/** `tail`: further members, with the comma before them. */
export function encodeBody<Body = MessagesRequest>(
  { assembly, plan, model, options }: CallToEncode,
  place: BodyPlace,
  tail: JsonText = "",
): EncodedRequest<Body> {
  checkOptions(options);
  const taken = takeMarkers(plan, model);
  const regions = encodeRegions(
    assembly,
    taken.plan.markers,
    (lifetime) => `,"cache_control":${markerJson(lifetime)}`,
  );
  const { members, notes } = encodeOptions(options, model, {
    requestMarker: taken.plan.requestMarker,
    hasTools: regions.tools.length > 0,
    ownMembers: place.ownMembers,
  });
  const betas = [...new Set([...(assembly.thread.written.betas ?? []), ...(options.betas ?? [])])];
  const parts: (string | Uint8Array)[] = [`{${place.head}`];
  if (betas.length > 0 && "member" in place.betas) {
    parts.push(`,"${place.betas.member}":${JSON.stringify(betas)}`);
  }
  if (regions.tools.length > 0) parts.push(',"tools":[', ...regions.tools, "]");
  if (regions.system.length > 0) parts.push(',"system":[', ...regions.system, "]");
  parts.push(',"messages":[', ...regions.messages, "]");
  for (const [name, json] of members) parts.push(`,${JSON.stringify(name)}:${json}`);
  parts.push(`${tail}}`);
  const named =
    betas.length > 0 && "header" in place.betas ? { [place.betas.header]: betas.join(",") } : {};
  return toRequest({
    path: place.path,
    parts,
    headers: { ...place.headers, ...named },
    betas,
    notes: [...taken.notes, ...notes, ...leftOutNotes(assembly)],
  });
}
