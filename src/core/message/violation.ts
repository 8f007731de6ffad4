// A broken invariant as a value. Validators return a list of these and never throw.

export interface Violation {
  /** Such as `messages.3.content.0.text`. */
  readonly path: string;
  readonly rule: Rule;
  /** What is wrong and how to fix it. */
  readonly message: string;
}

/** The list is closed: a new rule is a decision. */
export type Rule =
  | "shape"
  | "json-invalid"
  | "content-empty"
  | "text-empty"
  | "block-not-allowed"
  | "tool-result-single"
  | "tool-result-id"
  | "tool-use-id"
  | "tool-name"
  | "tool-input"
  | "json-stale"
  | "role-first"
  | "tool-use-repeated"
  | "tool-use-unanswered"
  | "tool-result-unmatched"
  | "tool-result-repeated"
  | "tool-result-misplaced"
  | "record-id"
  | "record-time"
  | "record-repeated"
  | "session-mixed"
  | "record-incomplete"
  | "usage-invalid";

export function violation(path: string, rule: Rule, message: string): Violation {
  return { path, rule, message };
}
