// The lock holder as written into the lock.
import { isObject } from "../../../core/message/fields.ts";
import type { ProcessIdentity } from "../../stores/process-identity.ts";

export interface LockHolder extends ProcessIdentity {
  readonly token: string;
  readonly lifetimeMs: number;
}

export function encodeHolder(holder: LockHolder): string {
  return `${JSON.stringify(holder)}\n`;
}

/** Null if the text cannot be trusted, as after a power cut. */
export function decodeHolder(text: string): LockHolder | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  const { pid, place, started, token, lifetimeMs } = value;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return null;
  if (typeof place !== "string" || typeof token !== "string") return null;
  if (typeof lifetimeMs !== "number") return null;
  return {
    pid,
    place,
    started: typeof started === "string" ? started : null,
    token,
    lifetimeMs,
  };
}
