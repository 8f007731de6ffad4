// Tools and system text are stored byte for byte or not at all.
import { StrataError } from "../../../../core/strata-error.ts";
import { isPlain } from "../../sql/storable.ts";

/** `whose` is for the error, such as "session a". */
export function checkFoundation(whose: string, foundation: string | undefined): void {
  if (foundation === undefined || isPlain(foundation)) return;
  throw new StrataError(
    "input-invalid",
    `the foundation of ${whose} contains NUL or half of a surrogate pair`,
    "pass it as JSON text, which escapes them",
  );
}
