// The provider's errors: {"error": {code, message, status, details}}.
import {
  noRetry,
  type FaultPlace,
  type HttpFault,
  type OuterRefusal,
  type SimResponse,
} from "../surface.ts";

/** The status and its HTTP code, as Google pairs them. */
const codes = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const;

type GoogleStatus = keyof typeof codes;

/** Thrown while reading a request; the route turns it into the answer. */
export class ApiError extends Error {
  readonly status: GoogleStatus;
  readonly details: readonly object[];

  constructor(status: GoogleStatus, message: string, details: readonly object[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.details = details;
  }
}

export const jsonHeaders: Readonly<Record<string, string>> = {
  "content-type": "application/json; charset=UTF-8",
};

/** In a stream that is a list, the error is a list of one. */
export function toErrorResponse(
  { status, message, details }: ApiError,
  isList = false,
): SimResponse {
  const error = { code: codes[status], message, status, ...listed(details) };
  const body = JSON.stringify(isList ? [{ error }] : { error }, null, 2);
  return { status: error.code, headers: jsonHeaders, body };
}

/** An error outside of any route, which may have a code that `ApiError` lacks. */
export function toOuterResponse({ status: code, message }: OuterRefusal): SimResponse {
  const names = { 404: "NOT_FOUND", 413: "INVALID_ARGUMENT", 500: "INTERNAL" } as const;
  const body = JSON.stringify({ error: { code, message, status: names[code] } }, null, 2);
  return { status: code, headers: { ...jsonHeaders, ...noRetry }, body };
}

/** Google leaves an empty list out. */
function listed(details: readonly object[]): { readonly details?: readonly object[] } {
  return details.length === 0 ? {} : { details };
}

export function invalid(message: string, details: readonly object[] = []): ApiError {
  return new ApiError("INVALID_ARGUMENT", message, details);
}

/** Says which field is wrong, as Google's JSON reader does. */
export function badFields(
  violations: readonly { readonly field: string; readonly description: string }[],
): ApiError {
  const message = violations.map(({ description }) => description).join("\n");
  const fieldViolations = violations.map(({ field, description }) =>
    field === "" ? { description } : { field, description },
  );
  return invalid(message, [
    { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations },
  ]);
}

/** For features of the provider that this simulator lacks. */
export function notSimulated(what: string): ApiError {
  return invalid(`${what} is not simulated.`);
}

/** For texts that are not published. */
export const ownWording = "[simulator wording: the provider's text is not published]";

export function promptTooLong(tokens: number, tokensMax: number): ApiError {
  return invalid(
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${tokensMax}).`,
  );
}

export function toFault(fault: HttpFault, place: FaultPlace): SimResponse {
  return toErrorResponse(faultError(fault, place));
}

function faultError(fault: HttpFault, place: FaultPlace): ApiError {
  switch (fault.kind) {
    case "rate limited":
      return rateLimited(fault.retryAfterSeconds, place);
    case "server error":
      return new ApiError(
        "INTERNAL",
        "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
      );
    case "model error":
      return new ApiError("INTERNAL", "An internal error has occurred.");
    case "model timeout":
      return new ApiError("DEADLINE_EXCEEDED", "Deadline expired before operation could complete.");
    case "overloaded":
      return new ApiError("UNAVAILABLE", "The model is overloaded. Please try again later.");
    case "overflow":
      return promptTooLong(fault.tokens, fault.tokensMax);
  }
}

/** The time to wait is in the body alone: there is no retry-after header. */
function rateLimited(seconds: number | null, { path }: FaultPlace): ApiError {
  const again = seconds === null ? "" : `\nPlease retry in ${seconds}s.`;
  const message = `You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. To monitor your current usage, head to: https://ai.dev/rate-limit. ${again}`;
  const model = /models\/([^/:]+)/.exec(path)?.[1] ?? "";
  return new ApiError("RESOURCE_EXHAUSTED", message, [
    {
      "@type": "type.googleapis.com/google.rpc.QuotaFailure",
      violations: [
        {
          quotaMetric: "generativelanguage.googleapis.com/generate_content_paid_tier_requests",
          quotaId: "GenerateRequestsPerMinutePerProjectPerModel",
          quotaDimensions: { location: "global", model },
        },
      ],
    },
    {
      "@type": "type.googleapis.com/google.rpc.Help",
      links: [
        {
          description: "Learn more about Gemini API quotas",
          url: "https://ai.google.dev/gemini-api/docs/rate-limits",
        },
      ],
    },
    ...(seconds === null
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` }]),
  ]);
}
