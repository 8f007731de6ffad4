// Values by key, a bounded number of them: what was not asked for the longest goes first.
import { StrataError } from "../strata-error.ts";

export interface Lru<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  readonly size: number;
}

export function createLru<Value>(capacity: number): Lru<Value> {
  if (!Number.isSafeInteger(capacity) || capacity < 1) {
    throw new StrataError(
      "config-invalid",
      `the capacity of a cache is ${String(capacity)}, but must be a whole number above 0`,
      "set it to such a number, or leave it out",
    );
  }
  // A map keeps the order of insertion: the first key is the oldest.
  const values = new Map<string, Value>();
  const set = (key: string, value: Value): void => {
    values.delete(key);
    values.set(key, value);
    if (values.size <= capacity) return;
    const [oldest] = values.keys();
    if (oldest !== undefined) values.delete(oldest);
  };
  return {
    get size() {
      return values.size;
    },
    get: (key) => {
      const value = values.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
  };
}
