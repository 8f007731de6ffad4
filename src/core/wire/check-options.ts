// Refuses numbers that JSON cannot hold or that no provider takes, before a request is built.
import { StrataError } from "../strata-error.ts";
import type { CallOptions } from "./protocol.ts";

export function checkOptions({ outputTokensMax, temperature }: CallOptions): void {
  // 0 is a request that only warms the cache.
  if (!Number.isSafeInteger(outputTokensMax) || outputTokensMax < 0) {
    throw invalid("outputTokensMax", outputTokensMax, "a whole number of tokens from 0");
  }
  if (temperature !== undefined && !Number.isFinite(temperature)) {
    throw invalid("temperature", temperature, "a finite number");
  }
}

function invalid(name: string, value: number, expected: string): StrataError {
  return new StrataError(
    "input-invalid",
    `${name} is ${String(value)}, but must be ${expected}`,
    `set ${name} to ${expected} in the options of the call`,
  );
}
