// An event: who did what when, in which session and turn, and which event it follows from.
import {
  fieldsOf,
  specOf,
  type Actor,
  type EventCatalogue,
  type EventType,
  type Sensitivity,
} from "./event-catalogue.ts";
import { listLengthMax, type Field, type FieldValue } from "./field-kinds.ts";
import { redact } from "./redact.ts";

/** An event of one type, or of any of several. */
export type EventOf<Type extends EventType> = { readonly [Each in Type]: Envelope<Each> }[Type];

export type StrataEvent = EventOf<EventType>;

interface Envelope<Type extends EventType> {
  /** A ULID, increasing within a session. */
  readonly id: string;
  /** The clock's time. Clocks go back; ids do not. */
  readonly timestampUs: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  /** The event this one follows from. It is earlier, and usually in the same session. */
  readonly parentEventId: string | null;
  readonly type: Type;
  readonly actor: Actor;
  readonly sensitivity: Sensitivity;
  readonly payload: PayloadOf<Type>;
}

/** Field names as operators query them. Money is decimal text in dollars. */
export type PayloadOf<Type extends EventType> = RequiredFields<EventCatalogue[Type]["payload"]> &
  OptionalFields<EventCatalogue[Type]["payload"]>;

type RequiredFields<Specs> = {
  readonly [Name in keyof Specs as Specs[Name] extends `${string}?` ? never : Name]: FieldValue<
    Specs[Name]
  >;
};

type OptionalFields<Specs> = {
  readonly [Name in keyof Specs as Specs[Name] extends `${string}?` ? Name : never]?: FieldValue<
    Specs[Name]
  >;
};

/** What happened, without where and when. */
export type EventBody = { readonly [Type in EventType]: BodyOf<Type> }[EventType];

interface BodyOf<Type extends EventType> {
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
}

/** What the emitter provides. The rest is defaulted or generated. */
export type DraftOf<Type extends EventType> = { readonly [Each in Type]: Draft<Each> }[Type];

export type EventDraft = DraftOf<EventType>;

interface Draft<Type extends EventType> {
  readonly sessionId: string;
  readonly turnId?: string | null;
  readonly parentEventId?: string | null;
  readonly type: Type;
  readonly payload: PayloadOf<Type>;
  readonly actor?: Actor;
  readonly sensitivity?: Sensitivity;
}

/** Fills in defaults and redacts free text. Changing the draft later does not change the event. */
export function completeEvent<Type extends EventType>(
  draft: DraftOf<Type>,
  made: { readonly id: string; readonly timestampUs: number },
): EventOf<Type> {
  const { type, sessionId, turnId = null, parentEventId = null } = draft;
  const { actor, sensitivity } = specOf(type);
  return Object.freeze({
    id: made.id,
    timestampUs: made.timestampUs,
    sessionId,
    turnId,
    parentEventId,
    type,
    actor: draft.actor ?? actor,
    sensitivity: draft.sensitivity ?? sensitivity,
    payload: redactPayload(draft.payload, fieldsOf(type)),
  });
}

function redactPayload<Payload extends object>(
  payload: Payload,
  fields: ReadonlyMap<string, Field>,
): Payload {
  const copy = { ...payload };
  for (const [name, value] of Object.entries(payload)) {
    const kind = fields.get(name)?.kind;
    if (Array.isArray(value)) {
      const items: readonly unknown[] = kind === "free texts" ? redactList(value) : [...value];
      Object.assign(copy, { [name]: Object.freeze(items) });
    } else if (kind === "free text" && typeof value === "string") {
      Object.assign(copy, { [name]: redact(value) });
    }
  }
  Object.freeze(copy);
  return copy;
}

function redactList(items: readonly unknown[]): unknown[] {
  const isLong = items.length > listLengthMax;
  const kept = isLong ? items.slice(0, listLengthMax - 1) : items;
  const texts = kept.map((item) => (typeof item === "string" ? redact(item) : item));
  return isLong ? [...texts, `(${items.length - kept.length} more)`] : texts;
}
