// Checks configured limits. An invalid one is an error that names the minimum.
import { StrataError } from "../strata-error.ts";

/** Throws a `StrataError` for the first limit that is not finite or is below its minimum. */
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
      `${name} of ${what} is ${value}, but must be at least ${least}`,
      `give a number from ${least}, or leave it out`,
    );
  }
}
