// The one event vocabulary; metrics and analytics are computed from it. Closed: a new type is a decision.
import { callEvents } from "./call-events.ts";
import { readField, type Field, type FieldSpec } from "./field-kinds.ts";
import { gatewayEvents } from "./gateway-events.ts";
import { memoryEvents } from "./memory-events.ts";
import { sessionEvents } from "./session-events.ts";
import { toolEvents } from "./tool-events.ts";
import { turnEvents } from "./turn-events.ts";

export const actors = ["user", "agent", "system", "tool", "worker"] as const;

export type Actor = (typeof actors)[number];

export const sensitivities = [
  "private",
  "user_controlled",
  "pseudonymous",
  "aggregatable",
] as const;

/** Most guarded first: stays with its owner; leaves with consent; may leave without names; may be aggregated. */
export type Sensitivity = (typeof sensitivities)[number];

export interface EventSpec {
  /** Completes the sentence "emitted when …". */
  readonly when: string;
  /** The default; the emitter may set another. */
  readonly actor: Actor;
  readonly sensitivity: Sensitivity;
  /** Retention sweeps keep it: it records a removal, a permission or a permanent change. */
  readonly audit?: true;
  readonly payload: Readonly<Record<string, FieldSpec>>;
}

export type EventCatalogue = typeof sessionEvents &
  typeof turnEvents &
  typeof callEvents &
  typeof toolEvents &
  typeof memoryEvents &
  typeof gatewayEvents;

export const eventCatalogue: EventCatalogue = {
  ...sessionEvents,
  ...turnEvents,
  ...callEvents,
  ...toolEvents,
  ...memoryEvents,
  ...gatewayEvents,
};

export type EventType = keyof EventCatalogue;

export function isEventType(type: unknown): type is EventType {
  return typeof type === "string" && Object.hasOwn(eventCatalogue, type);
}

export const eventTypes: readonly EventType[] = Object.keys(eventCatalogue).filter(isEventType);

export function specOf(type: EventType): EventSpec {
  return eventCatalogue[type];
}

export function isAudit(type: EventType): boolean {
  return specOf(type).audit === true;
}

/** The fields of a type by name. Read once, because every emitted event is checked. */
export function fieldsOf(type: EventType): ReadonlyMap<string, Field> {
  return fieldsByType.get(type) ?? noFields;
}

const noFields: ReadonlyMap<string, Field> = new Map();

const fieldsByType: ReadonlyMap<EventType, ReadonlyMap<string, Field>> = new Map(
  eventTypes.map((type) => [
    type,
    new Map(Object.entries(specOf(type).payload).map(([name, spec]) => [name, readField(spec)])),
  ]),
);
