// A running compaction as data: the request, what is known, and its stage.
import type { CacheState } from "../../cache/cache-state.ts";
import type { CompactionDecision } from "../../compaction/plan/decide-compaction.ts";
import type { Boundary, BoundarySizes } from "../../compaction/plan/find-boundary.ts";
import type { ClearingPlan } from "../../compaction/plan/plan-clearing.ts";
import type { EventBody } from "../../events/event.ts";
import type { Activation } from "../../skills/activation.ts";
import type { SessionFoundation } from "../../session/session-foundation.ts";
import type { Session } from "../../session/session.ts";
import type { SummaryCall } from "../../session/summary-bill.ts";
import type { JsonText, Message } from "../../message/message.ts";
import type { CompactionInput } from "./compaction-input.ts";
import type { CompactionOccasion } from "./decide.ts";
import type { MadeNotes, NotesQuestion, ProviderWish } from "./make-notes.ts";
import type { SummaryRequest } from "./summary-request.ts";
import type { Replacement, WrittenCompaction } from "./write-compaction.ts";

export interface CompactionRequest extends CompactionOccasion {
  /** The turn that runs; null between turns. */
  readonly openTurn: CompactionInput["open"];
  /** How many of the turn's messages no call has sent yet. */
  readonly stagedCount: number;
  /** The decision by sizes, if it was already made for this call. */
  readonly bySize?: CompactionDecision<BoundarySizes>;
  /** The subject that the summary should focus on. */
  readonly focus?: string;
}

export interface Compacting {
  readonly request: CompactionRequest;
  /** Calls for a summary so far. All of them cost money. */
  readonly calls: readonly SummaryCall[];
  /** The problems so far, for people to read. */
  readonly reasons: readonly string[];
  /** The session's cache state, with what those calls taught. */
  readonly cache: CacheState;
  readonly isAborted: boolean;
  readonly at: CompactionStage;
  /** Events that follow from the last result. */
  readonly news: readonly EventBody[];
}

/** Where the compaction stands. The next step follows from it. */
export type CompactionStage =
  | { readonly after: "begin"; readonly bySize: DecidedBySize }
  | { readonly after: "read history" | "lock" | "ask provider"; readonly due: DueCompaction }
  | { readonly after: "write notes"; readonly due: DueCompaction; readonly notes: MadeNotes }
  | {
      readonly after: "write compaction";
      readonly due: DueCompaction;
      readonly made: MadeCompaction;
    }
  | { readonly after: "fail"; readonly outcome: Unchanged }
  | { readonly after: "end"; readonly outcome: CompactionOutcome };

export type DecidedBySize = Extract<CompactionDecision<BoundarySizes>, { readonly isDue: true }>;

/** The decision with its place: the boundary or the clearing plan. */
export interface DueCompaction extends Omit<DecidedBySize, "boundary"> {
  readonly input: CompactionInput;
  readonly skillsLoaded: readonly Activation[];
  readonly boundary: Boundary | null;
  /** Set if clearing old results frees enough tokens. */
  readonly clearing: ClearingPlan | null;
  /** When the lock was taken. */
  readonly startMs: number;
  /** Null if old results are cleared instead, and before the lock is taken. */
  readonly question: NotesQuestion | null;
}

export interface MadeCompaction {
  readonly replacement: Replacement;
  readonly written: WrittenCompaction;
  /** Stored in one transaction with the compaction. */
  readonly completed: EventBody;
}

export type CompactionOutcome = Compacted | Unchanged;

export interface Compacted extends WrittenCompaction {
  readonly kind: "compacted";
  readonly freedSkills: readonly string[];
}

export interface Unchanged {
  readonly kind: "unchanged";
  /** The session with what the attempt taught. */
  readonly session: Session;
  /** For people to read. */
  readonly why: string;
  /** The prompt does not fit, and memory leaves it: that is enough, or nothing could be compacted. */
  readonly isTight: boolean;
  /** Calls that cost money without a result. */
  readonly spent: readonly SummaryCall[];
}

export type CompactionStep =
  | { readonly do: "read history" }
  | { readonly do: "lock" }
  | { readonly do: "ask provider"; readonly session: Session; readonly wish: ProviderWish }
  | { readonly do: "summarise"; readonly session: Session; readonly request: SummaryRequest }
  /** Builds tools and system text again, if they changed. */
  | { readonly do: "renew foundation" }
  | { readonly do: "commit"; readonly made: MadeCompaction }
  /** Stores what a failed attempt taught. Only between turns. */
  | { readonly do: "keep state"; readonly stateJson: JsonText }
  | { readonly do: "end"; readonly outcome: CompactionOutcome };

/** Every result brings the time. */
export type CompactionResult = { readonly nowMs: number } & (
  | {
      readonly did: "read history";
      readonly input: CompactionInput;
      readonly skillsLoaded: readonly Activation[];
    }
  /** False if another process compacts this session. */
  | { readonly did: "lock"; readonly isLocked: boolean }
  | { readonly did: "ask provider"; readonly outcome: ProviderOutcome }
  | { readonly did: "summarise"; readonly outcome: SummaryOutcome }
  | {
      readonly did: "renew foundation";
      /** Null if nothing changed, or if it could not be built. */
      readonly newFoundation: SessionFoundation | null;
      readonly reasons: readonly string[];
      /** The id of the turn that records the compaction. */
      readonly id: string;
    }
  /** `lost`: why the commit failed (another process compacted, or holds the lock); null after success. */
  | { readonly did: "commit"; readonly lost: string | null }
  | { readonly did: "keep state" }
);

export interface Paid {
  readonly calls: readonly SummaryCall[];
  readonly cache: CacheState;
}

export type ProviderOutcome =
  | ({
      readonly kind: "compacted";
      /** These messages replace the compacted part, verbatim, at the start of the history. */
      readonly messages: readonly Message[];
      /** The summary as text; null if it is not readable. */
      readonly summary: string | null;
    } & Paid)
  /** The model cannot compact on its route, or the session's options forbid it. Nothing was sent. */
  | { readonly kind: "unavailable"; readonly why: string }
  | FailedNotes;

export type SummaryOutcome =
  | ({ readonly kind: "summary"; readonly text: string } & Paid)
  | FailedNotes;

/** The faults of each attempt, for people to read. */
export interface FailedNotes extends Paid {
  readonly kind: "failed";
  readonly reasons: readonly string[];
}
