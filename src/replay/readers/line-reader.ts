// The interface of all readers: lines of one file in, recorded values out.
import type { Fields } from "../../core/message/fields.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import type { Recorded, RecordedSession } from "../recording.ts";
import type { Drafting } from "./block-draft.ts";

/** Reads one file of one format. Holds only what the next line needs. */
export interface LineReader {
  read(line: Fields, number: number): readonly Recorded[];
  /** Values that are only known at the end of the file. */
  end(): readonly Recorded[];
}

export interface Source {
  readonly file: string;
  readonly drafting: Drafting;
  readonly run: Run;
  /** The protocols of request logs; all by default. */
  readonly protocols?: readonly Protocol[];
  /** The models of Strata's own exports; the built-in ones by default. */
  readonly catalogue?: Catalogue;
}

/** State shared by all files of a run. */
export interface Run {
  /** The id, with a number if another session of the run has the same. */
  claimSessionId(id: string): string;
  /** False if the reply was read before: clients copy history into the files of resumed sessions. */
  claimReply(id: string): boolean;
}

export type CreateReader = (source: Source) => LineReader;

/** The opening of a session, under an id that no other session of the run has; the file's name where it has none. */
export function openSession(
  { file, run }: Source,
  id: string | null,
  facts: Pick<RecordedSession, "format" | "agent" | "wire"> & Partial<RecordedSession>,
): Extract<Recorded, { readonly type: "session" }> {
  const own = { id: run.claimSessionId(id ?? file), file, workspace: file };
  return { type: "session", session: { ...own, blocks: "as sent", isWhole: false, ...facts } };
}

export function skip(file: string, line: number | null, reason: string): Recorded {
  return { type: "skipped", file, line, reason };
}

/** Milliseconds since 1970 of a date in text form; null for anything else. */
export function timeMsOf(value: unknown): number | null {
  if (typeof value !== "string") return null;
  const timeMs = Date.parse(value);
  return Number.isNaN(timeMs) ? null : timeMs;
}
