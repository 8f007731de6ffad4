// Why a queued message came to no turn, for its caller.
import { StrataError } from "../../../core/strata-error.ts";

export function withdrawn(): StrataError {
  return new StrataError(
    "conflict",
    "the message was withdrawn before it had its turn",
    "say it again if it is still wanted",
  );
}

/** Too late to withdraw the message. */
export function goesOn(turnId: string): StrataError {
  return new StrataError(
    "conflict",
    `the message could not be withdrawn: turn ${turnId} of another process has it, and goes on`,
    "find the turn in the ledger to see how it ends",
  );
}

export function dropped(reason: string): StrataError {
  return new StrataError(
    "conflict",
    `the message was dropped from the queue: ${reason}`,
    "say it again, or change queue.cap and queue.drop",
  );
}

export function sameId(id: string): StrataError {
  return new StrataError("conflict", `${id} already waits`, "give every message its own id");
}

export function closed(id: string): StrataError {
  return new StrataError(
    "conflict",
    `session ${id} was closed before the message had its turn`,
    "the message waits in the ledger: open the session again and call runWaiting",
  );
}

/** A turn of the queue could not begin, so nothing behind it can: all of it waits on. */
export function stillWaits(error: StrataError): StrataError {
  return new StrataError(
    error.code,
    `the message still waits, because the next turn of the queue could not begin: ${error.message}`,
    "mend that, then call runWaiting; do not say the message again",
    { cause: error },
  );
}
