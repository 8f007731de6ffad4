// Errors of invalid questions: a StrataError that carries the API's error code.
import { StrataError, type StrataErrorCode } from "../core/strata-error.ts";

/** The list is closed and part of the API. */
export type AnalyticsErrorCode =
  | "invalid_time_window"
  | "invalid_group_by"
  | "invalid_order"
  | "invalid_limit"
  | "unknown_baseline_model"
  | "turn_not_found";

const strataCodes: Readonly<Record<AnalyticsErrorCode, StrataErrorCode>> = {
  invalid_time_window: "input-invalid",
  invalid_group_by: "input-invalid",
  invalid_order: "input-invalid",
  invalid_limit: "input-invalid",
  unknown_baseline_model: "model-unknown",
  turn_not_found: "not-found",
};

export function refuse(code: AnalyticsErrorCode, message: string, hint: string): StrataError {
  return new StrataError(strataCodes[code], message, hint, { cause: { analyticsCode: code } });
}

/** The API's code for a refused question; null for any other error. */
export function analyticsCodeOf(error: unknown): AnalyticsErrorCode | null {
  if (!(error instanceof StrataError)) return null;
  const { cause } = error;
  if (typeof cause !== "object" || cause === null || !("analyticsCode" in cause)) return null;
  const { analyticsCode } = cause;
  return isAnalyticsErrorCode(analyticsCode) ? analyticsCode : null;
}

export function isAnalyticsErrorCode(code: unknown): code is AnalyticsErrorCode {
  return typeof code === "string" && Object.hasOwn(strataCodes, code);
}
