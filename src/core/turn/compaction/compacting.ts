// A compaction under way, as data: what was asked, what is known, and how far it is.
import type { CacheState } from "../../cache/cache-state.ts";
import type { CompactionDecision } from "../../compaction/plan/decide-compaction.ts";
import type { Boundary, BoundarySizes } from "../../compaction/plan/find-boundary.ts";
import type { ClearingPlan } from "../../compaction/plan/plan-clearing.ts";
import type { EventBody } from "../../events/event.ts";
import type { Activation } from "../../skills/activation.ts";
import type { CompactionRules } from "../../session/compaction-rules.ts";
import type { SessionFoundation } from "../../session/session-foundation.ts";
import type { Session } from "../../session/session.ts";
import type { SummaryCall } from "../../session/summary-bill.ts";
import type { JsonText, Message } from "../../message/message.ts";
import type { PreparedCall } from "../prepare-call.ts";
import type { CompactionInput } from "./compaction-input.ts";
import type { MadeNotes, NotesQuestion, ProviderWish } from "./make-notes.ts";
import type { SummaryRequest } from "./summary-request.ts";
import type { Replacement, WrittenCompaction } from "./write-compaction.ts";

export interface CompactionRequest {
  readonly session: Session;
  /** The turn that runs; null between turns. */
  readonly openTurn: CompactionInput["open"];
  /** How many of its messages no call has sent yet. */
  readonly stagedCount: number;
  /** The call that would be sent without a compaction. */
  readonly prepared: PreparedCall;
  readonly nowMs: number;
  readonly asked?: "overflow_recovery" | "manual";
  /** What the summary should dwell on. */
  readonly focus?: string;
  /** False where no model is to be asked: then an outline stands for what is compacted. */
  readonly mayAskModel?: boolean;
}

export interface Compacting {
  readonly request: CompactionRequest;
  readonly rules: CompactionRules;
  /** Calls for a summary so far: all of them are paid for. */
  readonly calls: readonly SummaryCall[];
  /** What went wrong on the way, for people. */
  readonly reasons: readonly string[];
  /** The session's cache, with what those calls taught. */
  readonly cache: CacheState;
  readonly isAborted: boolean;
  readonly at: CompactionStage;
  /** Events that follow from the last result. */
  readonly news: readonly EventBody[];
}

/** What was done last. */
export type CompactionStage =
  | { readonly after: "begin"; readonly bySize: DecidedBySize }
  | { readonly after: "read history"; readonly due: DueCompaction }
  | { readonly after: "lock"; readonly locked: LockedCompaction }
  | { readonly after: "ask provider"; readonly locked: LockedCompaction }
  | { readonly after: "write notes"; readonly locked: LockedCompaction; readonly notes: MadeNotes }
  | { readonly after: "write compaction"; readonly made: MadeCompaction }
  | {
      readonly after: "fail";
      readonly outcome: Extract<CompactionOutcome, { readonly kind: "unchanged" }>;
    }
  | { readonly after: "end"; readonly outcome: CompactionOutcome };

export type DecidedBySize = Extract<CompactionDecision<BoundarySizes>, { readonly isDue: true }>;

/** What was decided, and where: the boundary or the clearing is known. */
export interface DueCompaction extends Omit<DecidedBySize, "boundary"> {
  readonly input: CompactionInput;
  readonly skillsLoaded: readonly Activation[];
  readonly boundary: Boundary | null;
  /** Where clearing old results frees enough. */
  readonly clearing: ClearingPlan | null;
}

export interface LockedCompaction extends DueCompaction {
  readonly startMs: number;
  /** Null where old results are cleared instead. */
  readonly question: NotesQuestion | null;
}

export interface MadeCompaction {
  readonly locked: LockedCompaction;
  readonly replacement: Replacement;
  readonly written: WrittenCompaction;
  /** To be stored with the compaction. */
  readonly completed: EventBody;
}

export type CompactionOutcome =
  | ({ readonly kind: "compacted"; readonly freedSkills: readonly string[] } & WrittenCompaction)
  | {
      readonly kind: "unchanged";
      /** With what the attempt taught. */
      readonly session: Session;
      /** For people. */
      readonly why: string;
      /** Nothing fits, and nothing could be compacted: then memory leaves the prompt. */
      readonly isTight: boolean;
      /** What was paid for and led to nothing. */
      readonly spent: readonly SummaryCall[];
    };

export type CompactionStep =
  | { readonly do: "read history" }
  | { readonly do: "lock" }
  | { readonly do: "ask provider"; readonly session: Session; readonly wish: ProviderWish }
  | { readonly do: "summarise"; readonly session: Session; readonly request: SummaryRequest }
  /** Makes tools and system text again, where they changed. */
  | { readonly do: "renew foundation" }
  | { readonly do: "commit"; readonly made: MadeCompaction }
  /** Keeps what a failed attempt taught; only between turns. */
  | { readonly do: "keep state"; readonly stateJson: JsonText }
  | { readonly do: "end"; readonly outcome: CompactionOutcome };

/** Every result brings the time. */
export type CompactionResult = { readonly nowMs: number } & (
  | {
      readonly did: "read history";
      readonly input: CompactionInput;
      readonly skillsLoaded: readonly Activation[];
    }
  /** False where another process compacts this session. */
  | { readonly did: "lock"; readonly isLocked: boolean }
  | { readonly did: "ask provider"; readonly outcome: ProviderOutcome }
  | { readonly did: "summarise"; readonly outcome: SummaryOutcome }
  | {
      readonly did: "renew foundation";
      /** Null where nothing changed, or it could not be made. */
      readonly newFoundation: SessionFoundation | null;
      readonly reasons: readonly string[];
      /** The name of the turn that records the compaction. */
      readonly id: string;
    }
  /** `lost`: another process compacted meanwhile, or holds the lock now; why, else null. */
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
      /** These come first from now on, in place of all that was compacted. */
      readonly messages: readonly Message[];
      /** In words, where people can read it. */
      readonly summary: string | null;
    } & Paid)
  | { readonly kind: "unavailable"; readonly why: string }
  | ({ readonly kind: "failed"; readonly reasons: readonly string[] } & Paid);

export type SummaryOutcome =
  | ({ readonly kind: "summary"; readonly text: string } & Paid)
  | ({ readonly kind: "failed"; readonly reasons: readonly string[] } & Paid);
