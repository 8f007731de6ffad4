// Which calls are repaired: as the request alone says, so that every call of a conversation is, on any node and after a restart.
import { hash } from "node:crypto";
import type { Arm } from "../../core/ledger/gateway-call.ts";
import type { CallRewriter, CallToRepair, CallToSend, SentCall } from "../observe/call-rewriter.ts";
import { openingOf } from "../observe/conversation.ts";
import type { ReadDocument } from "../observe/read-body.ts";
import { factsOf } from "../observe/rewriting.ts";
import { meansTheSame, type RepairsDone } from "../repair/check-repaired.ts";
import { createBodyRepairer, type RepairedBody } from "../repair/repair-body.ts";
import { Unclear } from "../repair/splice-edits.ts";
import type { OptimizerOptions, OptimizeSettings } from "./may-mark.ts";

export function createRepairer(
  { settings, catalogue }: OptimizerOptions,
  counts: { repaired: number; unrepaired: number },
): CallRewriter["repair"] {
  const repairer = createBodyRepairer();
  const edit = ({ document }: CallToRepair): RepairedBody | null => {
    try {
      return repairer.repair(document, settings.repairs);
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      counts.unrepaired += 1;
      return null;
    }
  };
  return (call) => {
    const { document, marks, start, read } = call;
    if (settings.repairs.length === 0 || document.request.continues) return null;
    if (drawArm(nameOf(marks, document), settings) !== "strata") return null;
    const facts = factsOf(document.request.model, start.upstream, catalogue);
    // A provider refuses thinking whose beginning changed, as it would if the repairs were switched in mid-conversation.
    if (facts === null || facts.capabilities.thinkingBoundToPrefix) return null;
    const repaired = edit(call);
    if (repaired === null) return null;
    const { pieces, done } = repaired;
    const after = read(pieces);
    if (after === null || !meansTheSame(document.request, after.request, done)) {
      counts.unrepaired += 1;
      return null;
    }
    counts.repaired += 1;
    return { pieces, document: withVolatile(after, done), repairs: done.repairs };
  };
}

/** What was moved stands somewhere else in the next call, so no marker may keep it. */
function withVolatile(document: ReadDocument, { moved }: RepairsDone): ReadDocument {
  if (moved === null) return document;
  const { request } = document;
  const at = request.blocks.findLastIndex(({ tier, text }) => tier === "T3" && text === moved);
  const blocks = request.blocks.map((block, index) =>
    index === at ? { ...block, tier: "T5" as const, mayCarryMarker: false } : block,
  );
  return { ...document, request: { ...request, blocks } };
}

/** The same conversation is always in the same arm; its sub-agents are in it, too. */
export function armOf(
  { found: { conversation }, marks, document }: CallToSend,
  settings: OptimizeSettings,
): SentCall["arm"] {
  // A summary repeats its parent's prompt once, and reads what the parent wrote: it is in neither arm.
  if (conversation.role === "summary") return "client";
  const { id, parentId } = conversation;
  // What is repaired must be known before the conversation is.
  const name = settings.repairs.length === 0 ? (parentId ?? id) : nameOf(marks, document);
  return drawArm(name, settings);
}

/** A name of the conversation that each of its requests has: that of its session, else its first message. */
function nameOf(
  { parentSession, session }: CallToSend["marks"],
  { request, original }: CallToSend["document"],
): string {
  const named = parentSession ?? session;
  if (named !== null) return named;
  const { blocks } = original?.request ?? request;
  return blocks[openingOf(blocks)]?.hash ?? "";
}

function drawArm(name: string, { share, holdout }: OptimizeSettings): Arm {
  const place = Number.parseInt(hash("sha256", name, "hex").slice(0, 8), 16) / 2 ** 32;
  if (place * 100 >= share) return "client";
  return place * 10_000 < share * holdout ? "holdout" : "strata";
}
