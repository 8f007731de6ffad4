/** Errors that a caller can fix. The list is closed: a new code is a decision. Each code has an exit status. */
export const exitStatusOf = {
  usage: 2,
  "model-unknown": 3,
  "model-unpriced": 4,
  "config-invalid": 5,
  "input-invalid": 6,
  "not-found": 7,
  "environment-unfit": 8,
  /** Another caller or process came first. */
  conflict: 9,
  /** The database cannot be reached, cannot be written or is damaged. */
  "store-unavailable": 10,
  /** A spending cap. */
  "limit-reached": 11,
} as const;

export type StrataErrorCode = keyof typeof exitStatusOf;

/** The only error Strata throws: what is wrong, and what to try next. */
export class StrataError extends Error {
  readonly code: StrataErrorCode;
  readonly hint: string;

  constructor(code: StrataErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StrataError";
    this.code = code;
    this.hint = hint;
  }
}

/** Gives every error a code and a hint. One without them comes from something that the application passed in, or is our mistake. */
export function toStrataError(error: unknown, what: string): StrataError {
  if (error instanceof StrataError) return error;
  return new StrataError(
    "environment-unfit",
    `${what} failed: ${messageOf(error)}`,
    "the cause of this error says where; mend that part and try again",
    { cause: error },
  );
}

/** What an error says. One that stands for several and says nothing itself gives their words. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") {
    return error.errors.map(messageOf).join("; ");
  }
  return error instanceof Error ? error.message : String(error);
}
