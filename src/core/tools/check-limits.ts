// Limits that somebody set: each a number that makes sense, or an error that says which would.
import { StrataError } from "../strata-error.ts";

/** Throws a `StrataError` for the first that is no number, without an end, or below the least that makes sense. */
export function requireLeasts<Name extends string>(
  what: string,
  values: Readonly<Record<Name, number>>,
  leasts: Readonly<Record<Name, number>>,
): void {
  for (const name in leasts) {
    const [value, least] = [values[name], leasts[name]];
    if (Number.isFinite(value) && value >= least) continue;
    throw new StrataError(
      "config-invalid",
      `${name} of ${what} is ${value}, and ${least} is the least`,
      `give a number from ${least}, or leave it out`,
    );
  }
}
