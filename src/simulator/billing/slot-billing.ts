// Billing for servers of one's own: each slot holds its latest prompt, and another prompt in that slot takes its place.
import { assert } from "../../core/assert.ts";
import type { BillableRequest } from "./billable-request.ts";
import type { Billing, OpenBill } from "./bill.ts";
import { keyedPromptOf } from "./growing-prompt.ts";
import { hashText } from "../ids.ts";
import type { BillingOptions } from "./options.ts";

/** The prompt that a slot holds. */
interface Slot {
  readonly keys: readonly string[];
  readonly tokens: number;
  readonly writtenBy: string;
}

export function createSlotBilling(options: BillingOptions): Omit<Billing, "stored"> {
  /** The slots of a server in the order of their use, the latest last. */
  const servers = new Map<string, Slot[]>();
  return {
    clear: () => servers.clear(),
    entries: () =>
      [...servers.values()].flat().map(({ keys, tokens, writtenBy }) => {
        const key = keys.at(-1) ?? "";
        return { key, lifetime: null, tokens, writtenBy, expiresMs: Infinity, state: "live" };
      }),
    open: (request) => openSlot(request, servers, options),
  };
}

/** The slot that shares most is used; if none shares anything, a free one, or the one that was not used for longest. */
function openSlot(
  request: BillableRequest,
  servers: Map<string, Slot[]>,
  options: BillingOptions,
): OpenBill {
  const { id, workspace, host = "", model, keeping } = request;
  assert(keeping !== undefined, "only a surface knows of slots");
  const server = hashText(workspace, host, model.route, model.id);
  const { keys, cumulative } = keyedPromptOf(request, options);
  const totalTokens = cumulative.at(-1) ?? 0;
  // The last piece is always computed: the reply begins with it.
  const isSharedBy = (slot: Slot, block: number): boolean => slot.keys[block] === keys[block];
  const sharedBy = (slot: Slot): number =>
    keys.findLastIndex((_, block) => block < keys.length - 1 && isSharedBy(slot, block));
  const slots = servers.get(server) ?? [];
  const best = slots.reduce<Slot | null>(
    (found, slot) => (sharedBy(slot) > (found === null ? -1 : sharedBy(found)) ? slot : found),
    null,
  );
  const hitBlock = best === null ? -1 : sharedBy(best);
  const shared = cumulative[hitBlock] ?? 0;
  const kept = Math.floor(shared / keeping.stepTokens) * keeping.stepTokens;
  const readTokens = kept < keeping.minimumTokens ? 0 : kept;
  return {
    bill: {
      requestId: id,
      totalTokens,
      readTokens,
      writeTokens: {},
      uncachedTokens: totalTokens - readTokens,
      hitBlock: readTokens === 0 ? null : hitBlock,
      markers: [],
      reason:
        best === null || readTokens === 0
          ? { kind: "never written" }
          : { kind: "hit", writtenBy: best.writtenBy, lifetime: null },
    },
    begin: () => {
      const held = servers.get(server) ?? [];
      const others = held.filter((slot) => slot !== best);
      const free = others.length < keeping.slots ? others : others.slice(1);
      servers.set(server, [...free, { keys, tokens: totalTokens, writtenBy: id }]);
    },
    end: () => {},
    abandon: () => {},
  };
}
