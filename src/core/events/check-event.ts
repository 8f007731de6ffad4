// Checks an event against the catalogue, when it is emitted and when it is read back.
import { isObject } from "../message/fields.ts";
import { nearestNames } from "../nearest-names.ts";
import {
  actors,
  eventTypes,
  fieldsOf,
  isEventType,
  sensitivities,
  type EventType,
} from "./event-catalogue.ts";
import { isUlid } from "../message/validate-message.ts";
import { isName, type Field } from "./field-kinds.ts";

export interface EventViolation {
  /** Such as `payload.cost_usd`. */
  readonly path: string;
  readonly rule: EventRule;
  /** What is wrong and how to fix it. Never contains the value, which may be a secret. */
  readonly message: string;
}

/** The list is closed: a new rule is a decision. */
export type EventRule =
  | "event-shape"
  | "type-unknown"
  | "id-invalid"
  | "time-invalid"
  | "session-invalid"
  | "turn-invalid"
  | "parent-invalid"
  | "actor-unknown"
  | "sensitivity-unknown"
  | "field-missing"
  | "field-unknown"
  | "value-invalid";

/** Lists every difference from the catalogue. An empty list means the event's type holds. */
export function checkEvent(event: unknown): readonly EventViolation[] {
  if (!isObject(event)) return [broken("event", "event-shape", "must be an object")];
  const { type, payload } = event;
  const violations = checkEnvelope(event);
  if (!isEventType(type)) return [unknownType(type), ...violations];
  if (!isObject(payload)) {
    violations.push(broken("payload", "event-shape", "must be an object"));
  } else {
    checkPayload(payload, type, violations);
  }
  return violations;
}

function checkEnvelope(event: Readonly<Record<string, unknown>>): EventViolation[] {
  const { id, timestampUs, sessionId, turnId, parentEventId } = event;
  const violations: EventViolation[] = [];
  const report = (path: string, rule: EventRule, message: string): void => {
    violations.push(broken(path, rule, message));
  };
  if (!isId(id)) report("id", "id-invalid", "must be a ULID");
  if (typeof timestampUs !== "number" || !Number.isSafeInteger(timestampUs) || timestampUs < 0) {
    report("timestampUs", "time-invalid", "must be whole microseconds since 1970");
  }
  if (!isName(sessionId)) {
    report("sessionId", "session-invalid", "must be a name of 1 to 256 characters");
  }
  if (turnId !== null && !isName(turnId)) {
    report("turnId", "turn-invalid", "must be a name of 1 to 256 characters, or null");
  }
  if (parentEventId !== null && !isId(parentEventId)) {
    report("parentEventId", "parent-invalid", "must be the id of an event, or null");
  } else if (isId(id) && parentEventId !== null && parentEventId >= id) {
    const what = parentEventId === id ? "is the event itself" : "comes after the event";
    report("parentEventId", "parent-invalid", `${what}; give the event this one follows from`);
  }
  if (!isOneOf(actors, event["actor"])) {
    report("actor", "actor-unknown", `must be one of ${actors.join(", ")}`);
  }
  if (!isOneOf(sensitivities, event["sensitivity"])) {
    report("sensitivity", "sensitivity-unknown", `must be one of ${sensitivities.join(", ")}`);
  }
  return violations;
}

function checkPayload(
  payload: Readonly<Record<string, unknown>>,
  type: EventType,
  violations: EventViolation[],
): void {
  const fields = fieldsOf(type);
  for (const [name, field] of fields) {
    const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
    if (value !== undefined) {
      if (!field.holds(value)) {
        violations.push(broken(`payload.${name}`, "value-invalid", `must be ${field.expected}`));
      }
    } else if (!field.isOptional) {
      const message = `${type} needs it: ${field.expected}`;
      violations.push(broken(`payload.${name}`, "field-missing", message));
    }
  }
  for (const name of Object.keys(payload)) {
    if (!fields.has(name)) violations.push(unknownField(name, type, fields));
  }
}

function unknownField(
  name: string,
  type: EventType,
  fields: ReadonlyMap<string, Field>,
): EventViolation {
  const hint = meant(name, [...fields.keys()]);
  return broken(`payload.${shown(name)}`, "field-unknown", `${type} has no such field${hint}`);
}

function unknownType(type: unknown): EventViolation {
  const name = typeof type === "string" ? type : "";
  const what = name === "" ? "must be the type of an event" : `${shown(name)} is not an event type`;
  return broken("type", "type-unknown", `${what}${meant(name, eventTypes)}`);
}

function meant(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(shown(name), known, 1);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

/** Enough of a name to recognize it. */
function shown(name: string): string {
  return name.slice(0, 64);
}

function broken(path: string, rule: EventRule, message: string): EventViolation {
  return { path, rule, message };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && isUlid(value);
}

function isOneOf(values: readonly string[], value: unknown): boolean {
  return typeof value === "string" && values.includes(value);
}
