// The rows of answers that several views read.
import type { ApiRoutes } from "../../../api/client/answers.ts";

type RowOf<Name extends "cost" | "savings" | "misses" | "sessions"> =
  ApiRoutes[Name]["answer"]["data"][number];

export type CostRow = RowOf<"cost">;
export type SavingsRow = RowOf<"savings">;
export type MissRow = RowOf<"misses">;
export type SessionRow = RowOf<"sessions">;

/** One session, as its cross-section is drawn from. */
export type Pictured = ApiRoutes["session_picture"]["answer"]["data"];

/** The name of a row among its group, which is a member of its own. */
export function labelOf(row: object, group: string): string {
  const label: unknown = Object.entries(row).find(([name]) => name === group)?.[1];
  if (typeof label === "boolean") return label ? "sub-agents" : "main agents";
  return typeof label === "string" ? label : "–";
}
