// Helpers for billing examples, so that a test shows mainly its numbers.
import { resolveModel } from "../src/core/models/resolve-model.ts";
import type { Bill, Billing } from "../src/simulator/billing/bill.ts";
import type {
  BillableBlock,
  BillableRequest,
  Lifetime,
} from "../src/simulator/billing/billable-request.ts";

type Model = BillableRequest["model"];

/** A short form of a request; missing parts do not matter. */
interface Sent {
  readonly blocks: readonly BillableBlock[];
  readonly markers?: Readonly<Record<number, Lifetime>>;
  readonly mode?: BillableRequest["mode"];
  readonly settings?: BillableRequest["settings"];
  readonly workspace?: string;
  readonly atMs?: number;
}

/** Bills a request whose response begins at once. */
export function send(billing: Billing, model: Model, sent: Sent): Bill {
  const open = billing.open(toRequest(model, sent));
  open.begin();
  return open.bill;
}

export function toRequest(model: Model, sent: Sent): BillableRequest {
  const { blocks, markers = {}, mode = "implicit", settings = {}, workspace = "ours" } = sent;
  return {
    id: "request",
    workspace,
    model,
    blocks,
    markers: Object.entries(markers).map(([block, lifetime]) => {
      return { block: Number(block), lifetime, origin: "explicit" };
    }),
    mode,
    settings,
    startMs: sent.atMs ?? 0,
  };
}

/** A block of a message; its name is its content. */
export function text(
  name: string,
  tokens: number,
  more: Partial<BillableBlock> = {},
): BillableBlock {
  return { tier: "messages", run: null, boundary: null, ...more, hash: name, tokens };
}

export function texts(
  count: number,
  tokens: number,
  more: Partial<BillableBlock> = {},
  name = "block",
): BillableBlock[] {
  return Array.from({ length: count }, (_, index) => text(`${name} ${index}`, tokens, more));
}

/** The non-empty buckets; read and uncached are always included. */
export function paid({ readTokens, writeTokens, uncachedTokens }: Bill): Record<string, number> {
  const writes = Object.entries(writeTokens).filter(([, tokens]) => tokens > 0);
  return { read: readTokens, ...Object.fromEntries(writes), uncached: uncachedTokens };
}

export function outcomes({ markers }: Bill): string[] {
  return markers.map(({ outcome }) => outcome);
}

export function modelOf(id: string): Model {
  return resolveModel(id).facts;
}
