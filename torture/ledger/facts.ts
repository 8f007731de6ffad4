// Facts: what a store must show after a commit, as named values. Independent of the ledger's own code.
import { createHash } from "node:crypto";
import type { Message } from "../../src/core/message/message.ts";

/** Values by name. A name is used once, and its value never changes. */
export type Facts = Readonly<Record<string, string>>;

export const factOf = {
  session: (id: string): Facts => ({ [`session ${id}`]: "there" }),
  turn: (id: string, type: string): Facts => ({ [`turn ${id}`]: type }),
  message: (at: MessageAt, digest: string): Facts => ({
    [`message ${at.turnId} ${at.index}`]: `${at.callNumber} ${digest}`,
  }),
  call: (turnId: string, number: number, status: string, cost: string): Facts => ({
    [`call ${turnId} ${number}`]: `${status} ${cost}`,
  }),
  tool: (turnId: string, number: number, id: string, name: string): Facts => ({
    [`tool ${turnId} ${number} ${id}`]: name,
  }),
  answered: (turnId: string, number: number, id: string, status: string): Facts => ({
    [`answered ${turnId} ${number} ${id}`]: status,
  }),
  closed: (turnId: string, status: string): Facts => ({ [`closed ${turnId}`]: status }),
  moved: (sessionId: string, turnId: string, reason: string): Facts => ({
    [`moved ${sessionId} ${turnId}`]: reason,
  }),
  compaction: (turnId: string, sessionId: string, firstKept: string | null): Facts => ({
    [`fold ${turnId}`]: `${sessionId} ${String(firstKept)}`,
  }),
  event: (id: string, type: string): Facts => ({ [`event ${id}`]: type }),
  /** An event the ledger adds by itself, about a turn or a session. */
  audit: (type: Audit, about: string): Facts => ({ [`audit ${type} ${about}`]: "there" }),
} as const;

export type Audit = "session.forked" | "turn.abandoned";

export interface MessageAt {
  readonly turnId: string;
  readonly index: number;
  readonly callNumber: number;
}

/** For messages without verbatim text, whose content is stored as JSON. */
export function digestOf({ role, content }: Message): string {
  return digestText(role, JSON.stringify(content));
}

export function digestText(role: string, content: string): string {
  return createHash("sha256").update(`${role} ${content}`).digest("base64").slice(0, 22);
}

/** Events a writer reports before and after each commit. */
export type WriterEvent =
  | { readonly at: "ready" }
  | { readonly at: "try"; readonly n: number; readonly us: number; readonly tried: Tried }
  | { readonly at: "done"; readonly n: number; readonly us: number }
  /** The ledger refused because of a conflict: nothing of the commit may exist. */
  | { readonly at: "refused"; readonly n: number }
  | { readonly at: "count"; readonly what: Counted }
  | { readonly at: "problem"; readonly message: string };

export interface Tried {
  readonly facts: Facts;
  /** The turn of the commit, and whether the commit takes its lease. */
  readonly turnId?: string;
  readonly takesLease?: boolean;
}

export type Counted = "resumed" | "abandoned" | "stalled" | "lock taken";
