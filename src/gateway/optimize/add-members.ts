// Members that are no part of the prompt, at the end of a client's body: the host of a router that has its cache, and the question why it missed.
import type { JsonText } from "../../core/message/message.ts";
import { findVendor } from "../../core/wire/protocols.ts";
import type { CallToSend, SentCall } from "../observe/call-rewriter.ts";
import type { OptimizerOptions } from "./may-mark.ts";

type NamedJson = readonly [name: string, json: JsonText];

/** The client's own members of these names stay as they are. */
export function withMembers(sent: SentCall, call: CallToSend, options: OptimizerOptions): SentCall {
  const { grown, request } = call.document;
  if (sent.arm !== "strata" || grown === null || request.continues) return sent;
  const { bytes, members } = grown.scanned;
  const asked = questionOf(call, options);
  const added = [hostOf(call), asked].filter(
    (each): each is NamedJson => each !== null && !members.has(each[0]),
  );
  if (added.length === 0) return sent;
  const pieces = appendMembers(sent.pieces ?? bytes.slices(0, bytes.length), added);
  const replyId = call.found.branch?.replyId ?? "";
  const isCompared = asked !== null && added.includes(asked) && replyId !== "";
  return { ...sent, pieces, ...(isCompared ? { comparesWith: replyId } : {}) };
}

/** A router with many hosts: the one that answered last has the cache. After a failure it is let go, because another one may answer. */
function hostOf({ start, found, facts }: CallToSend): NamedJson | null {
  const host = found.branch?.servedBy ?? null;
  const isRouter = findVendor(start.upstream)?.listed?.hasManyHosts === true;
  if (host === null || !isRouter) return null;
  const known = facts?.cache.lifetimes.map(({ seconds }) => seconds) ?? [];
  const keptMs = Math.max(stickySeconds, ...known) * 1000;
  if (start.startMs - found.conversation.touchedMs >= keptMs) return null;
  return ["provider", JSON.stringify({ order: [host], allow_fallbacks: true })];
}

/** As in edge/providers/pin-host.ts: for so long the router itself remembers a host. */
const stickySeconds = 600;

function questionOf(
  { start, document, found, facts }: CallToSend,
  { settings, isVendor }: OptimizerOptions,
): NamedJson | null {
  const { protocol } = document;
  const { foreign } = protocol;
  if (!settings.diagnose || foreign.toDiagnosis === undefined || facts?.cache.diagnostics !== true)
    return null;
  // Other servers of the same API may refuse a member that they do not know.
  if (!isVendor(start.upstream, protocol)) return null;
  const replyId = found.branch?.replyId ?? "";
  return foreign.toDiagnosis(replyId === "" ? null : replyId);
}

/** Before the last bracket of the body. */
function appendMembers(
  pieces: readonly Uint8Array[],
  members: readonly NamedJson[],
): readonly Uint8Array[] {
  const at = pieces.findLastIndex((piece) => piece.includes(bracket));
  const last = pieces[at];
  if (last === undefined) return pieces;
  const end = last.lastIndexOf(bracket);
  const text = members.map(([name, json]) => `,${JSON.stringify(name)}:${json}`).join("");
  const closed = [last.subarray(0, end), Buffer.from(text), last.subarray(end)];
  return [...pieces.slice(0, at), ...closed, ...pieces.slice(at + 1)];
}

const bracket = 0x7d;
