// Has the provider make or extend a stored prefix. Each step is recorded before it is asked for, and after the answer.
import type { Assembly } from "../../core/assembly/assemble.ts";
import { storedSeconds, type PrefixSize } from "../../core/cache/stored-prefix.ts";
import type { HeldPrefix } from "../../core/session/held-prefix.ts";
import type { Session } from "../../core/session/session.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { StoredResource } from "../../core/wire/protocol.ts";
import { askProvider, labelOf, recordMade, type ResourceDeps } from "./finish-resource.ts";

export interface PrefixToMake {
  readonly prefix: PrefixSize;
  readonly assembly: Assembly;
}

/** A sentence for people. */
interface NotDone {
  readonly reason: string;
}

export async function makePrefix(
  session: Session,
  { id, prefix, assembly }: PrefixToMake & { readonly id: string },
  deps: ResourceDeps,
): Promise<HeldPrefix | NotDone> {
  const { model, options, modelName, policy } = session;
  const { blocks } = prefix;
  const key = assembly.blocks.at(blocks - 1)?.key ?? "";
  const createdMs = deps.now();
  const added = {
    id,
    sessionId: session.id,
    kind: "stored prefix",
    provider: model.provider,
    model: modelName,
    tokens: prefix.tokens,
    createdMs,
    expiresMs: createdMs + storedSeconds * 1000,
  } as const;
  await deps.ledger.addResource(added);
  const label = labelOf(id);
  const asked = { assembly, model, options, blocks, seconds: storedSeconds, label };
  const answer = await askProvider(deps.storing.encodeCreate(asked), deps);
  const stored = typeof answer === "string" ? deps.storing.decodeStored(answer) : null;
  if (stored === null) {
    if (typeof answer !== "string" && refusals.has(answer.kind)) {
      await deps.ledger.changeResource(id, { state: "gone", endedMs: deps.now() });
    }
    return { reason: whyNot(answer) };
  }
  const about = { policy: policy.name, promptKey: key };
  const made = await recordMade({ ...added, ...creating }, stored, deps, about);
  const { tokens, expiresMs } = made;
  const times = { createdMs: made.createdMs, expiresMs };
  return { id, name: stored.name, blocks, tokens, modelName, key, ...times };
}

/** The later end is recorded first: after a crash it is not taken for expired too early. */
export async function extendPrefix(
  held: HeldPrefix,
  { ledger, storing, now, ...deps }: ResourceDeps,
): Promise<HeldPrefix | NotDone> {
  const expiresMs = now() + storedSeconds * 1000;
  await ledger.changeResource(held.id, { state: "live", expiresMs });
  const answer = await askProvider(storing.encodeExtend(held.name, storedSeconds), deps);
  const stored: StoredResource | null =
    typeof answer === "string" ? storing.decodeStored(answer) : null;
  if (stored === null) return { reason: whyNot(answer) };
  const until = stored.expiresMs ?? expiresMs;
  if (until !== expiresMs) {
    await ledger.changeResource(held.id, { state: "live", expiresMs: until });
  }
  return { ...held, expiresMs: until };
}

function whyNot(answer: string | ProviderFailure): string {
  return typeof answer === "string" ? "its answer cannot be read" : answer.detail;
}

/** After these nothing was made. After any other failure the request may have arrived all the same. */
const refusals: ReadonlySet<ProviderFailure["kind"]> = new Set([
  "rate-limited",
  "context-overflow",
  "request-too-large",
  "invalid-request",
  "authentication",
  "permission",
  "billing",
  "not-found",
]);

const creating = {
  state: "creating",
  name: null,
  endedMs: null,
  costPicoUsd: null,
  isLeft: false,
} as const;
