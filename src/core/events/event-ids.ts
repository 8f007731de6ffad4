// ULIDs that always increase: 48 bits of time, 80 random bits. They sort as text.
import { isUlid } from "../message/validate-message.ts";
import { StrataError } from "../strata-error.ts";

export interface EventIds {
  /** An id greater than all before it and than `after`, even if the clock goes back. `random` holds ten fresh bytes. */
  next(ms: number, random: Uint8Array, after?: string): string;
  /** The greatest so far. Empty before the first. */
  last(): string;
}

export function createEventIds({ after }: { readonly after?: string } = {}): EventIds {
  let last = after ?? "";
  let parts = after === undefined ? null : parseUlid(after);
  return {
    next: (ms, random, floor = "") => {
      const start = floor > last ? parseUlid(floor) : parts;
      parts = nextParts(start, ms, random);
      last = spellUlid(parts);
      return last;
    },
    last: () => last,
  };
}

interface UlidParts {
  readonly ms: number;
  /** The random bits in halves of 40: a number cannot hold 80. */
  readonly high: number;
  readonly low: number;
}

const msMax = 2 ** 48 - 1;
const halfSize = 2 ** 40;

/**
 * Within one millisecond, or if the clock went back, the last id grows by a random amount instead of
 * one, so that two nodes continuing after the same id do not make the same next one.
 */
function nextParts(last: UlidParts | null, clockMs: number, random: Uint8Array): UlidParts {
  const ms = Math.min(Math.max(Math.floor(clockMs) || 0, 0), msMax);
  const first = readHalf(random, 0);
  const second = readHalf(random, 5);
  if (last === null || ms > last.ms) return { ms, high: first, low: second };
  const low = last.low + 1 + second;
  if (low < halfSize) return { ms: last.ms, high: last.high, low };
  if (last.high + 1 < halfSize) {
    return { ms: last.ms, high: last.high + 1, low: low - halfSize };
  }
  if (last.ms === msMax) {
    throw new StrataError(
      "input-invalid",
      `no event id can follow ${spellUlid(last)}`,
      "continue after a real id; this one is the largest possible ULID",
    );
  }
  return { ms: last.ms + 1, high: first, low: second };
}

function readHalf(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let index = at; index < at + 5; index++) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** The milliseconds since 1970 that a ULID begins with. */
export function timeOfUlid(text: string): number {
  return parseUlid(text).ms;
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** All numbers of two digits. */
const pairs: readonly string[] = [...digits].flatMap((high) =>
  [...digits].map((low) => high + low),
);

function spellUlid({ ms, high, low }: UlidParts): string {
  return spell(ms, 10) + spell(high, 8) + spell(low, 8);
}

/** `length` is even. */
function spell(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let place = 0; place < length; place += 2) {
    text = (pairs[rest % 1024] ?? "") + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

function parseUlid(text: string): UlidParts {
  if (!isUlid(text)) {
    throw new StrataError(
      "input-invalid",
      `${JSON.stringify(text)} is not a ULID`,
      "give the id of an event, 26 characters such as 01JCQ3Z6VN0000000000000000",
    );
  }
  return {
    ms: readDigits(text.slice(0, 10)),
    high: readDigits(text.slice(10, 18)),
    low: readDigits(text.slice(18)),
  };
}

function readDigits(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 32 + digits.indexOf(digit);
  return value;
}
