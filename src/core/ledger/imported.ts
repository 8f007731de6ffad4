// The mark of a session that came from a file of others. It stays with the session, in what it was made of.
import type { JsonText } from "../message/message.ts";
import type { SessionRecord } from "./session-record.ts";

export interface Imported {
  readonly importedMs: number;
  /** The folder that the file named. It is not used. */
  readonly workspacePath: string | null;
}

export function markImported(
  contextJson: unknown,
  {
    importedMs,
    workspacePath,
  }: {
    readonly importedMs: number;
    readonly workspacePath: unknown;
  },
): JsonText {
  const context: unknown = typeof contextJson === "string" ? JSON.parse(contextJson) : {};
  const imported = { importedMs, workspacePath };
  return JSON.stringify({ ...(typeof context === "object" ? context : {}), imported });
}

/** Null for a session that was made here. */
export function findImported({ contextJson }: Pick<SessionRecord, "contextJson">): Imported | null {
  const context: unknown = contextJson === null ? null : JSON.parse(contextJson);
  if (typeof context !== "object" || context === null || !("imported" in context)) return null;
  const { imported } = context;
  if (typeof imported !== "object" || imported === null) return null;
  const path = "workspacePath" in imported ? imported.workspacePath : null;
  const ms = "importedMs" in imported ? Number(imported.importedMs) : 0;
  return { importedMs: ms, workspacePath: typeof path === "string" ? path : null };
}

/** Whether its tools and system text still have to be accepted. */
export function isUnaccepted(record: Pick<SessionRecord, "contextJson" | "status">): boolean {
  return record.status === "archived" && findImported(record) !== null;
}
