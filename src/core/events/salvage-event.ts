// Keeps what can be stored of an invalid event, where that is better than losing it.
import type { EventViolation } from "./check-event.ts";
import { fieldsOf, specOf, type EventType } from "./event-catalogue.ts";
import type { EventOf } from "./event.ts";
import { listLengthMax } from "./field-kinds.ts";
import { redact } from "./redact.ts";

/**
 * Strict refuses an event with any violation; use it for tests and development. Lenient reports the
 * violations and delivers the valid rest, so that a mistake in an event does not lose it. Both refuse
 * unknown types and events without a valid session.
 */
export type Strictness = "strict" | "lenient";

export function isRefused(violations: readonly EventViolation[], strictness: Strictness): boolean {
  return strictness === "strict"
    ? violations.length > 0
    : violations.some(({ rule }) => rule === "type-unknown" || rule === "session-invalid");
}

/**
 * The same event, made storable. Unknown fields and wrong values stay as redacted text, numbers, flags
 * and short lists of text; other values are removed. Wrong envelope values become defaults.
 */
export function salvageEvent<Type extends EventType>(
  event: EventOf<Type>,
  violations: readonly EventViolation[],
): EventOf<Type> {
  const wrong = new Set(violations.map(({ path }) => path));
  const { actor, sensitivity } = specOf(event.type);
  return Object.freeze({
    ...event,
    turnId: wrong.has("turnId") ? null : event.turnId,
    parentEventId: wrong.has("parentEventId") ? null : event.parentEventId,
    actor: wrong.has("actor") ? actor : event.actor,
    sensitivity: wrong.has("sensitivity") ? sensitivity : event.sensitivity,
    payload: salvagePayload(event.payload, event.type),
  });
}

function salvagePayload<Payload extends object>(payload: Payload, type: EventType): Payload {
  const fields = fieldsOf(type);
  const copy = { ...payload };
  for (const [name, value] of Object.entries(payload)) {
    if (fields.get(name)?.holds(value) === true) continue;
    const kept = salvageValue(value);
    if (kept === undefined) Reflect.deleteProperty(copy, name);
    else Object.assign(copy, { [name]: kept });
  }
  Object.freeze(copy);
  return copy;
}

function salvageValue(value: unknown): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) {
    const texts = value.filter((item) => typeof item === "string");
    return Object.freeze(texts.slice(0, listLengthMax).map(redact));
  }
  const isPlain = value === null || typeof value === "boolean" || Number.isFinite(value);
  return isPlain ? value : undefined;
}
