// Facts: what a store must show after a commit, as one value by name. Nothing here asks the ledger's own code.
import { createHash } from "node:crypto";
import type { Message } from "../../src/core/message/message.ts";

/** By name. A name is given once; what it stands for never changes. */
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
  fold: (turnId: string, sessionId: string, firstKept: string | null): Facts => ({
    [`fold ${turnId}`]: `${sessionId} ${String(firstKept)}`,
  }),
  event: (id: string, type: string): Facts => ({ [`event ${id}`]: type }),
  /** An event the ledger adds by itself; about a turn, or about a session. */
  audit: (type: Audit, about: string): Facts => ({ [`audit ${type} ${about}`]: "there" }),
} as const;

export type Audit = "session.forked" | "turn.abandoned";

export interface MessageAt {
  readonly turnId: string;
  readonly index: number;
  readonly callNumber: number;
}

/** Of messages without exact texts, whose content is kept as JSON spells it. */
export function digestOf({ role, content }: Message): string {
  return digestText(role, JSON.stringify(content));
}

export function digestText(role: string, content: string): string {
  return createHash("sha256").update(`${role} ${content}`).digest("base64").slice(0, 22);
}

/** What somebody is about to commit, and what became of it. Told before and after. */
export type Told =
  | { readonly at: "ready" }
  | { readonly at: "try"; readonly n: number; readonly us: number; readonly tried: Tried }
  | { readonly at: "done"; readonly n: number; readonly us: number }
  /** The ledger said that somebody else was first: nothing of it may be there. */
  | { readonly at: "refused"; readonly n: number }
  | { readonly at: "count"; readonly what: Counted }
  | { readonly at: "problem"; readonly message: string };

export interface Tried {
  readonly facts: Facts;
  /** The turn it is about, and whether it takes the lease for it. */
  readonly turnId?: string;
  readonly takesLease?: boolean;
}

/** Microseconds of a clock that all processes of this machine share. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export type Counted = "resumed" | "abandoned" | "stalled" | "lock taken";
