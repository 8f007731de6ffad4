// Our values in the spelling of payloads, which operators query.
import { formatUsd } from "../models/pico-usd.ts";
import type { PayloadOf } from "./event.ts";

export type CallErrorClass = PayloadOf<"llm.call_failed">["error_class"];

/** Exact dollars as decimal text such as 0.0000125. Null means that no price is known. */
export function toUsd(pico: bigint): string;
export function toUsd(pico: bigint | null): string | null;
export function toUsd(pico: bigint | null): string | null {
  return pico === null ? null : formatUsd(pico).replace("$", "");
}

/** Why a provider did not answer. `core/wire` uses the same kinds of failure. */
export type FailureKind =
  | "rate-limited"
  | "overloaded"
  | "server-error"
  | "context-overflow"
  | "thinking-mismatch"
  | "request-too-large"
  | "invalid-request"
  | "authentication"
  | "permission"
  | "billing"
  | "not-found"
  | "malformed"
  | "unreachable"
  | "timeout"
  | "cancelled";

const classOfFailure: Readonly<Record<FailureKind, CallErrorClass>> = {
  "rate-limited": "rate_limit",
  overloaded: "server_error",
  "server-error": "server_error",
  "context-overflow": "context_overflow",
  "thinking-mismatch": "invalid_request",
  "request-too-large": "invalid_request",
  "invalid-request": "invalid_request",
  authentication: "auth",
  permission: "auth",
  billing: "other",
  "not-found": "invalid_request",
  malformed: "other",
  unreachable: "network",
  timeout: "network",
  cancelled: "cancelled",
};

export function toErrorClass(kind: FailureKind): CallErrorClass {
  return classOfFailure[kind];
}
