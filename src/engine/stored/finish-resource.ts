// Ends what a provider keeps: finds it by its label if its name was not recorded, deletes it, and books what it cost.
import type { Ledger } from "../../core/ledger/ledger.ts";
import type { ResourceRecord } from "../../core/ledger/resource-record.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { toCreationCall, toStorageCall } from "../../core/turn/next-storing.ts";
import type { EncodedRequest } from "../../core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { ProtocolStoring, StoredResource } from "../../core/wire/protocol.ts";
import type { Provider } from "../../edge/providers/provider.ts";

export interface ResourceDeps {
  readonly ledger: Pick<Ledger, "addResource" | "changeResource">;
  readonly provider: Pick<Provider, "send">;
  readonly storing: ProtocolStoring;
  readonly model: ModelFacts;
  readonly now: () => number;
}

export type Finished =
  | { readonly isGone: true }
  /** It may still be there; `reason` is a sentence for people. */
  | { readonly isGone: false; readonly reason: string };

const gone: Finished = { isGone: true };

/** A request to make one may arrive so long after we stopped waiting for its answer. */
const listedMs = 120_000;

/** By which its owner finds it in the provider's list. */
export function labelOf(id: string): string {
  return `${labelStart}${id}`;
}

/** Null for a label that is not ours. */
export function idInLabel(label: string | null): string | null {
  return label?.startsWith(labelStart) === true ? label.slice(labelStart.length) : null;
}

const labelStart = "strata ";

/** Safe to repeat at any point. */
export async function finishResource(
  record: ResourceRecord,
  deps: ResourceDeps,
): Promise<Finished> {
  const found = record.name === null ? await findByLabel(record, deps) : record;
  if ("reason" in found) return { isGone: false, reason: found.reason };
  const { name } = found;
  if (name === null) {
    if (deps.now() < record.createdMs + listedMs) {
      return { isGone: false, reason: "the provider does not list it, or does not list it yet" };
    }
    // It was never made; or it has expired meanwhile, and what it cost is not known.
    await end(found, deps, { endedMs: Math.min(deps.now(), found.expiresMs), isPaid: false });
    return gone;
  }
  if (deps.now() >= found.expiresMs) {
    await end(found, deps, { endedMs: found.expiresMs, isPaid: true });
    return gone;
  }
  await deps.ledger.changeResource(found.id, { state: "deleting" });
  const answer = await askProvider(deps.storing.encodeDelete(name), deps);
  if (typeof answer !== "string" && !deps.storing.mayBeGone(answer)) {
    return { isGone: false, reason: answer.detail };
  }
  await end(found, deps, { endedMs: Math.min(deps.now(), found.expiresMs), isPaid: true });
  return gone;
}

interface End {
  readonly endedMs: number;
  readonly isPaid: boolean;
}

/** A deleted session pays nothing any more. */
async function end(
  record: ResourceRecord,
  { ledger, model }: ResourceDeps,
  { endedMs, isPaid }: End,
): Promise<void> {
  const call = isPaid ? toStorageCall(record, model, endedMs) : null;
  await ledger.changeResource(record.id, {
    state: "gone",
    endedMs,
    costPicoUsd: call?.costPicoUsd ?? null,
    ...(call !== null && record.sessionId !== "" && { call }),
  });
}

/** What the provider has under its label is recorded with what making it cost. */
async function findByLabel(
  record: ResourceRecord,
  deps: ResourceDeps,
): Promise<ResourceRecord | { readonly reason: string }> {
  const all = await listStored(deps);
  if ("reason" in all) return all;
  const stored = all.resources.find(({ label }) => label === labelOf(record.id));
  if (stored === undefined) return record;
  return recordMade(record, stored, deps);
}

/** The answer to the creation is in the ledger from now on. */
export async function recordMade(
  record: ResourceRecord,
  stored: StoredResource,
  { ledger, model }: Pick<ResourceDeps, "ledger" | "model">,
  about: Parameters<typeof toCreationCall>[2] = { policy: "none", promptKey: "" },
): Promise<ResourceRecord> {
  const made = {
    state: "live",
    name: stored.name,
    tokens: stored.tokens ?? record.tokens,
    createdMs: stored.createdMs ?? record.createdMs,
    expiresMs: stored.expiresMs ?? record.expiresMs,
  } as const;
  const known = { ...record, ...made };
  const call = toCreationCall(known, model, about);
  await ledger.changeResource(record.id, { ...made, ...(record.sessionId !== "" && { call }) });
  return known;
}

export interface ListedResources {
  readonly resources: readonly StoredResource[];
}

/** Everything that the key's owner stores at the provider. */
export async function listStored(
  deps: Pick<ResourceDeps, "provider" | "storing">,
): Promise<ListedResources | { readonly reason: string }> {
  const resources: StoredResource[] = [];
  let pageToken: string | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await askProvider(deps.storing.encodeList(pageToken), deps);
    if (typeof answer !== "string") return { reason: answer.detail };
    const read = deps.storing.decodeList(answer);
    if (read === null) return { reason: "the provider's list cannot be read" };
    resources.push(...read.resources);
    pageToken = read.nextPageToken;
    if (pageToken === null) return { resources };
  }
  return { reason: `the provider's list has more than ${pagesMax} pages` };
}

const pagesMax = 100;

/** The text of the answer, or why there is none. */
export async function askProvider(
  request: EncodedRequest,
  { provider }: Pick<ResourceDeps, "provider">,
): Promise<string | ProviderFailure> {
  const { outcome } = await provider.send({ request, stream: false, purpose: "storing" });
  if (outcome.kind !== "reply") return outcome;
  const [first] = outcome.message.content;
  return first?.type === "text" ? first.text : "";
}
