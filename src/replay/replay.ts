// Recordings → report: what they cost, under every policy and at the limit.
import {
  accountOf,
  closeBooks,
  fileOf,
  openBooks,
  skip,
  type ReplayOptions,
  type Sums,
} from "./books.ts";
import type { Gathered } from "./place-in-time.ts";
import type { Recorded } from "./recording.ts";
import { toReport, type ReplayReport } from "./report.ts";
import { settle } from "./settle-workspace.ts";

/** Reads to the end. Holds one workspace in memory at a time. */
export async function replay(
  recordings: AsyncIterable<Recorded>,
  options: ReplayOptions,
): Promise<ReplayReport> {
  return toReport(await sumUp(recordings, options), options.policies);
}

/** The sums of recordings that are read to the end. */
export async function sumUp(
  recordings: AsyncIterable<Recorded>,
  options: ReplayOptions,
): Promise<Sums> {
  const books = openBooks(options);
  let workspace: Gathered | null = null;
  for await (const recorded of recordings) {
    if (recorded.type === "skipped") skip(books.sums, recorded.reason, recorded);
    else if (recorded.type === "session") {
      const { session } = recorded;
      if (workspace !== null && workspace.name !== session.workspace) settle(workspace, books);
      if (workspace === null || workspace.name !== session.workspace) {
        workspace = { name: session.workspace, sessions: new Map(), requests: [] };
      }
      workspace.sessions.set(session.id, session);
      accountOf(books, session);
      fileOf(books.sums, session.file);
    } else workspace?.requests.push(recorded);
  }
  if (workspace !== null) settle(workspace, books);
  return closeBooks(books);
}
