// Events of a stream that are no part of a reply: exceptions of the service, and frames that cannot be read.
import type { ServerEvent } from "./protocol.ts";

export interface ServiceException {
  /** As the service spells it. */
  readonly name: string;
  /** The whole payload, usually JSON with a message. */
  readonly data: string;
}

/** As a reader of frames reports it. */
export function exceptionEvent({ name, data }: ServiceException): ServerEvent {
  return { event: `${prefix}${name}`, data };
}

/** A stream that cannot be read on. */
export function brokenFrames(message: string): ServerEvent {
  return exceptionEvent({ name: broken, data: JSON.stringify({ message }) });
}

/** Undefined for any other event. */
export function exceptionIn({ event = "", data }: ServerEvent): ServiceException | undefined {
  return event.startsWith(prefix) ? { name: event.slice(prefix.length), data } : undefined;
}

export function isBroken({ name }: ServiceException): boolean {
  return name === broken;
}

/** No event of a service has a colon in its name. */
const prefix = "exception:";

const broken = "broken frames";
