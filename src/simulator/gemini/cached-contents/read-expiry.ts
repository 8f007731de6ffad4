// When a stored prefix expires: a duration from now, or a moment.
import { badFields, invalid, ownWording } from "../api-error.ts";
import { fields, type Place } from "../request/fields.ts";

/** Null if the client sets neither. Throws for both, and for a moment that has passed. */
export function readExpiry(body: Place, nowMs: number): number | null {
  const ttl = fields.findText(body, "ttl");
  const moment = fields.findText(body, "expireTime");
  if (ttl !== null && moment !== null) {
    throw invalidField(
      "cached_content",
      "(oneof), oneof field 'expiration' is already set. Cannot set 'expireTime'",
    );
  }
  const expiresMs = ttl === null ? readMoment(moment) : nowMs + readDuration(ttl);
  if (expiresMs !== null && expiresMs <= nowMs) {
    throw invalid(`The expiration of a CachedContent must be in the future. ${ownWording}`);
  }
  return expiresMs;
}

/** `300s`, with up to nine decimals. */
function readDuration(text: string): number {
  const seconds = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(text)?.[1];
  if (seconds === undefined) {
    throw invalidField(
      "cached_content.ttl",
      "(type.googleapis.com/google.protobuf.Duration), Field 'ttl', Illegal duration format; duration must end with 's'",
    );
  }
  return Math.floor(Number(seconds) * 1000);
}

function readMoment(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw invalidField(
    "cached_content.expire_time",
    "(type.googleapis.com/google.protobuf.Timestamp), Field 'expireTime', Invalid time format: Failed to parse input",
  );
}

function invalidField(field: string, problem: string): Error {
  return badFields([{ field, description: `Invalid value at '${field}' ${problem}` }]);
}
