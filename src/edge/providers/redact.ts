// Removes keys from everything that is recorded, even if a server repeats them.
import { redact as redactText } from "../../core/events/redact.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import type { Reply } from "../../core/wire/reply.ts";
import { takeOut, type Redact } from "../../core/events/redact-secrets.ts";
import { createPartFinder, spellingsOf } from "../../core/events/secret-parts.ts";

/** Shorter values are not secrets, and would match inside other words. */
const secretLengthMin = 8;

/** Whether the name of a header is rather a key that was written in its place. */
export function isKeyLike(name: string): boolean {
  const digits = name.match(/\d/g)?.length ?? 0;
  return redactText(name) !== name || (name.length >= 12 && digits >= 3);
}

/**
 * Replaces the credentials, with and without a scheme such as `Bearer` before them: as they are and as a server may spell
 * them, in any case of letters, and every longer part of them. A key in the place of a header's name is one, too.
 */
export function createRedact(credentials: Readonly<Record<string, string>>): Redact {
  const forms = [...Object.values(credentials), ...Object.keys(credentials).filter(isKeyLike)]
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((value) => value.length >= secretLengthMin)
    .flatMap(spellingsOf);
  const find = createPartFinder([...new Set(forms)]);
  return (text) => takeOut(text, find(text));
}

export interface Redactable {
  readonly outcome: Reply | ProviderFailure;
  readonly discarded: Reply | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Cleans error texts and headers. The model's own words stay unchanged. */
export function redactResult<Result extends Redactable>(result: Result, redact: Redact): Result {
  const { outcome, discarded } = result;
  const headers = Object.entries(result.headers).map(([name, value]) => [
    redact(name),
    redact(value),
  ]);
  return {
    ...result,
    headers: Object.fromEntries(headers),
    outcome: redactOutcome(outcome, redact),
    discarded: discarded && redactReply(discarded, redact),
  };
}

export function redactOutcome(
  outcome: Reply | ProviderFailure,
  redact: Redact,
): Reply | ProviderFailure {
  return outcome.kind === "reply" ? redactReply(outcome, redact) : redactFailure(outcome, redact);
}

function redactReply(reply: Reply, redact: Redact): Reply {
  return reply.failure === undefined
    ? reply
    : { ...reply, failure: redactFailure(reply.failure, redact) };
}

export function redactFailure(failure: ProviderFailure, redact: Redact): ProviderFailure {
  return { ...failure, detail: redact(failure.detail) };
}
