// Refusals of the API: a StrataError that carries the API's code, and the HTTP status of each code.
import { analyticsCodeOf, type AnalyticsErrorCode } from "../../analytics/analytics-error.ts";
import { fieldsOf } from "../../core/message/fields.ts";
import { StrataError, type StrataErrorCode } from "../../core/strata-error.ts";

/** The list is closed and part of the API. */
export type ApiErrorCode = AnalyticsErrorCode | OwnCode;

type OwnCode =
  | "invalid_parameter"
  | "invalid_cursor"
  | "invalid_body"
  | "token_required"
  | "login_failed"
  | "foreign_host"
  | "foreign_origin"
  | "not_yours"
  | "route_not_found"
  | "session_not_found"
  | "call_not_found"
  | "method_not_allowed"
  | "body_too_large"
  | "too_busy"
  | "internal"
  | "store_unavailable";

interface CodeFacts {
  readonly status: number;
  readonly strata: StrataErrorCode;
  readonly when: string;
}

const analyticsCodes: Readonly<Record<AnalyticsErrorCode, Omit<CodeFacts, "strata">>> = {
  invalid_time_window: { status: 400, when: "an invalid time or an empty window" },
  invalid_group_by: { status: 400, when: "rows cannot be grouped by that" },
  invalid_order: { status: 400, when: "no such figure" },
  invalid_limit: { status: 400, when: "not a whole number from 1 to 1000" },
  unknown_baseline_model: { status: 400, when: "unknown model; the error names the nearest" },
  turn_not_found: { status: 404, when: "there is no such turn" },
};

const ownCodes: Readonly<Record<OwnCode, CodeFacts>> = {
  invalid_parameter: {
    status: 400,
    strata: "input-invalid",
    when: "an unknown parameter, one that is there twice, or a value that it cannot have",
  },
  invalid_cursor: {
    status: 400,
    strata: "input-invalid",
    when: "not a `next_cursor` of this API, or a position that is no whole number",
  },
  invalid_body: {
    status: 400,
    strata: "input-invalid",
    when: "the body is not what the route takes",
  },
  token_required: { status: 401, strata: "input-invalid", when: "neither the token nor a login" },
  login_failed: {
    status: 401,
    strata: "input-invalid",
    when: "the code is used, too old or wrong",
  },
  foreign_host: { status: 403, strata: "input-invalid", when: "not asked by a loopback name" },
  foreign_origin: {
    status: 403,
    strata: "input-invalid",
    when: "asked by a page of another origin",
  },
  not_yours: {
    status: 403,
    strata: "input-invalid",
    when: "a route for the owner, asked with a key",
  },
  route_not_found: { status: 404, strata: "not-found", when: "no route has this path" },
  session_not_found: { status: 404, strata: "not-found", when: "there is no such session" },
  call_not_found: { status: 404, strata: "not-found", when: "there is no such call" },
  method_not_allowed: {
    status: 405,
    strata: "input-invalid",
    when: "the route has other methods; they are in the header `allow`",
  },
  body_too_large: { status: 413, strata: "input-invalid", when: "a body above 64 KB" },
  too_busy: {
    status: 429,
    strata: "limit-reached",
    when: "too many questions or readers at once; try again after `retry-after` seconds",
  },
  internal: { status: 500, strata: "environment-unfit", when: "a mistake of Strata's own" },
  store_unavailable: {
    status: 503,
    strata: "store-unavailable",
    when: "the ledger cannot be read",
  },
};

export const apiErrors: Readonly<Record<ApiErrorCode, Omit<CodeFacts, "strata">>> = {
  ...analyticsCodes,
  ...ownCodes,
};

export function isApiErrorCode(code: unknown): code is ApiErrorCode {
  return typeof code === "string" && Object.hasOwn(apiErrors, code);
}

export function refuseWith(code: OwnCode, message: string, hint: string): StrataError {
  return new StrataError(ownCodes[code].strata, message, hint, { cause: { apiCode: code } });
}

export interface ApiRefusal {
  readonly code: ApiErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** What a client is told of an error. For a mistake of our own, it is told only that there was one. */
export function toRefusal(error: unknown): ApiRefusal {
  const code = codeOf(error);
  if (code === null || !(error instanceof StrataError)) return ownFault;
  return { code, message: error.message, hint: error.hint };
}

const ownFault: ApiRefusal = {
  code: "internal",
  message: "Strata made a mistake of its own",
  hint: "its standard error says which; the same question may work for another window",
};

function codeOf(error: unknown): ApiErrorCode | null {
  const analyticsCode = analyticsCodeOf(error);
  if (analyticsCode !== null) return analyticsCode;
  if (!(error instanceof StrataError)) return null;
  const { apiCode } = fieldsOf(error.cause);
  if (isApiErrorCode(apiCode)) return apiCode;
  return error.code === "store-unavailable" ? "store_unavailable" : null;
}
