// Random storing of prefixes, for models that offer it: stored, kept longer or shorter, removed, named
// by requests in time and too late.
import type { BillableRequest } from "../../src/simulator/billing/billable-request.ts";
import type { Random } from "../random-message.ts";
import type { StorageAct } from "../naive/naive-storage.ts";

/** What was stored, and how it may be named. */
export interface Storage {
  readonly names: string[];
  /** The request whose beginning each one is. */
  readonly sources: Map<string, BillableRequest>;
  /** Moments at which something expires. */
  readonly expiries: number[];
}

export function openStorage(): Storage {
  return { names: [], sources: new Map(), expiries: [] };
}

export function canStore({ model }: BillableRequest): boolean {
  return model.cache.stored !== null;
}

/** What a client does after a request: mostly nothing. */
export function randomAct(
  random: Random,
  storage: Storage,
  request: BillableRequest,
): StorageAct | null {
  const chance = random();
  const { startMs } = request;
  if (chance < 0.12) return storeBeginning(random, storage, request);
  const name = storage.names[Math.floor(random() * storage.names.length)];
  if (name === undefined || chance > 0.24) return null;
  if (chance < 0.17) return { kind: "remove", name, atMs: startMs };
  const expiresMs = startMs + randomMs(random);
  storage.expiries.push(expiresMs);
  return { kind: "keep", name, expiresMs, atMs: startMs };
}

function storeBeginning(random: Random, storage: Storage, request: BillableRequest): StorageAct {
  const name = `stored-${storage.names.length + 1}`;
  const length = 1 + Math.floor(random() * request.blocks.length);
  const { workspace, model, startMs } = request;
  const expiresMs = startMs + randomMs(random);
  storage.names.push(name);
  storage.sources.set(name, request);
  storage.expiries.push(expiresMs);
  const blocks = request.blocks.slice(0, length);
  const times = { startMs, expiresMs };
  return {
    kind: "store",
    prefix: { name, id: name, workspace, model, settings: {}, blocks, ...times },
  };
}

/** From a minute to a month and more, so that prices change in between. */
function randomMs(random: Random): number {
  const choices = [60_000, 300_000, 3_600_000, 86_400_000, 40 * 86_400_000];
  return Math.ceil((choices[Math.floor(random() * choices.length)] ?? 60_000) * (0.5 + random()));
}

/** The request, naming what was stored once: mostly its own beginning, at times another's. */
export function maybeNaming(
  random: Random,
  storage: Storage,
  request: BillableRequest,
): BillableRequest {
  if (storage.names.length === 0 || random() < 0.5) return request;
  const name = storage.names[Math.floor(random() * storage.names.length)] ?? "";
  const source = storage.sources.get(name);
  if (source === undefined || random() < 0.1) return { ...request, stored: name };
  // A request that goes on from the stored beginning, as a client sends it.
  const { workspace, model } = source;
  const blocks = [...source.blocks, ...request.blocks.slice(0, Math.floor(random() * 3))];
  return { ...request, workspace, model, blocks, stored: name };
}
