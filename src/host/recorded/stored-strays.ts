// What providers still keep under a name for no running session: by the ledger's rows and by the providers' own lists.
import type { StrataConfig } from "../../core/config/schema.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { ResourceRecord } from "../../core/ledger/resource-record.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { messageOf } from "../../core/strata-error.ts";
import type { StoredResource } from "../../core/wire/protocol.ts";
import { reachProviders, type Providers } from "../../edge/providers/reach-providers.ts";
import {
  askProvider,
  finishResource,
  idInLabel,
  listStored,
  type ResourceDeps,
} from "../../engine/stored/finish-resource.ts";
import { toCatalogue } from "../config/catalogue.ts";
import { toBetas } from "../parts/open-providers.ts";

export interface Stray {
  /** Ours. */
  readonly id: string;
  /** The provider's name for it; null if it is not known. */
  readonly name: string | null;
  /** Empty if its session was deleted. */
  readonly sessionId: string;
  readonly model: string;
  readonly expiresMs: number | null;
  /** Whether a deletion was asked for, and why it failed; null if it is gone, or if none was asked for. */
  readonly left: string | null;
}

export interface Strays {
  readonly found: readonly Stray[];
  /** Resources of running sessions. */
  readonly inUse: number;
  /** What providers list that is not in this ledger: another ledger's, or made by hand. */
  readonly others: number;
  /** Providers that could not be asked, with reasons. */
  readonly problems: readonly string[];
}

export interface StraysQuestion {
  readonly ledger: Ledger;
  readonly config: StrataConfig;
  readonly deletes: boolean;
  readonly now?: () => number;
}

/** Asks providers only where prefixes are, or were, stored. Null where they never were. */
export async function findStrays({
  ledger,
  config,
  deletes,
  now = Date.now,
}: StraysQuestion): Promise<Strays | null> {
  const rows = await ledger.listResources({ withGone: true });
  if (rows.length === 0 && config.policies.storedPrefix.usdPerHour === null) return null;
  const catalogue = toCatalogue(config);
  const providers = reachProviders({
    providers: () => config.providers,
    catalogue,
    betas: () => toBetas(config),
  });
  const problems: string[] = [];
  try {
    const places = await reachPlaces(rows, { ledger, catalogue, providers, now, problems });
    const listed = await listAll(places, rows, problems);
    const open = rows.filter(({ state }) => state !== "gone");
    const strays = open.filter((row) => row.isLeft || now() >= row.expiresMs);
    const found: Stray[] = [];
    for (const row of strays) {
      const deps = places.get(row.model);
      found.push({ ...strayOf(row), left: deletes ? await finish(row, deps) : null });
    }
    for (const { resource, row, deps } of listed.forgotten) {
      const left = deletes ? await remove(resource, deps) : null;
      const { name, expiresMs } = resource;
      found.push({ ...strayOf(row), name, expiresMs, left });
    }
    return { found, inUse: open.length - strays.length, others: listed.others, problems };
  } finally {
    await providers.close();
  }
}

function strayOf({ id, name, sessionId, model, expiresMs }: ResourceRecord): Omit<Stray, "left"> {
  return { id, name, sessionId, model, expiresMs };
}

/** Null if it is gone. */
async function finish(row: ResourceRecord, deps: ResourceDeps | undefined): Promise<string | null> {
  if (deps === undefined) return "its provider is not configured";
  const finished = await finishResource(row, deps);
  return finished.isGone ? null : finished.reason;
}

async function remove({ name }: StoredResource, deps: ResourceDeps): Promise<string | null> {
  const answer = await askProvider(deps.storing.encodeDelete(name), deps);
  return typeof answer === "string" || deps.storing.mayBeGone(answer) ? null : answer.detail;
}

interface Reaching {
  readonly ledger: Ledger;
  readonly catalogue: Catalogue;
  readonly providers: Providers;
  readonly now: () => number;
  readonly problems: string[];
}

/** By the name of a model: where it is asked. One model that stores prefixes stands for a provider without rows. */
async function reachPlaces(
  rows: readonly ResourceRecord[],
  { ledger, catalogue, providers, now, problems }: Reaching,
): Promise<ReadonlyMap<string, ResourceDeps>> {
  const places = new Map<string, ResourceDeps>();
  const listed = catalogue.ids.find((id) => catalogue.factsOf(id).cache.stored !== null);
  const used = new Set(rows.map(({ model }) => model));
  for (const name of new Set([...used, ...(listed === undefined ? [] : [listed])])) {
    const model = findModel(name, catalogue)?.facts;
    if (model === undefined) continue;
    try {
      // A simulator that this command starts knows nothing.
      if (providers.choose(model).kind === "simulated") continue;
      const { protocol, provider } = await providers.reach(model);
      const { storing } = protocol;
      if (storing !== undefined) places.set(name, { ledger, provider, storing, model, now });
    } catch (error) {
      // What was never used need not be configured.
      if (used.has(name)) problems.push(`${name}: ${messageOf(error)}`);
    }
  }
  return places;
}

interface Listed {
  /** Ours by their label, and gone by our rows. */
  readonly forgotten: readonly {
    readonly resource: StoredResource;
    readonly row: ResourceRecord;
    readonly deps: ResourceDeps;
  }[];
  readonly others: number;
}

/** Models of one provider share a list. */
async function listAll(
  places: ReadonlyMap<string, ResourceDeps>,
  rows: readonly ResourceRecord[],
  problems: string[],
): Promise<Listed> {
  const known = new Map(rows.map((row) => [row.id, row]));
  const seen = new Set<string>();
  const forgotten: Listed["forgotten"][number][] = [];
  let others = 0;
  const asked = new Set<string>();
  for (const deps of places.values()) {
    const { provider, route } = deps.model;
    if (asked.has(`${provider}\n${route}`)) continue;
    asked.add(`${provider}\n${route}`);
    const all = await listStored(deps);
    if ("reason" in all) {
      problems.push(`${provider}: ${all.reason}`);
      continue;
    }
    for (const resource of all.resources) {
      if (seen.has(resource.name)) continue;
      seen.add(resource.name);
      const row = known.get(idInLabel(resource.label) ?? "");
      if (row === undefined) others += 1;
      else if (row.state === "gone") forgotten.push({ resource, row, deps });
    }
  }
  return { forgotten, others };
}
