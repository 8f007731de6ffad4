// Tools and system text are kept to the byte or not at all.
import { StrataError } from "../../../core/strata-error.ts";
import { isPlain } from "../sql/storable.ts";

/** `whose`: as in "session a". */
export function checkFoundation(whose: string, foundation: string | undefined): void {
  if (foundation === undefined || isPlain(foundation)) return;
  throw new StrataError(
    "input-invalid",
    `the foundation of ${whose} holds NUL or half of a surrogate pair`,
    "give it as JSON text, which spells them out",
  );
}
