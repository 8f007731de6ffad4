// The steps of a turn. Each step has one kind of result.
import type { Assembly } from "../assembly/assemble.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { CompactionDecision } from "../compaction/plan/decide-compaction.ts";
import type { BoundarySizes } from "../compaction/plan/find-boundary.ts";
import type { Section } from "../layers/section.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import type { WithCall } from "../ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../message/message.ts";
import type { Session } from "../session/session.ts";
import type { SentBesides } from "./diagnose-call.ts";
import type { SentCall } from "./settle-call.ts";
import type { EncodedRequest } from "../wire/encoded-request.ts";
import type { Compacted, Unchanged } from "./compaction/compacting.ts";
import type { ProviderFailure } from "../wire/failure.ts";
import type { MovedTurn } from "./move-turn.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ToolRun } from "./done-in-turn.ts";
import type { CallRules, TurnEnding } from "./turn.ts";

/** What a turn does next. */
export type Step =
  /** Reads the clock, the settings and, if `volatile` is set, the text for the next call only. */
  | { readonly do: "refresh"; readonly volatile: boolean }
  /** Assembles the prompt and plans its caching. */
  | {
      readonly do: "prepare";
      readonly current: readonly Message[];
      readonly volatile: string | null;
      /** Null if the clock must be read again. */
      readonly nowMs: number | null;
    }
  /** Records what the call will send. `opens`: takes the lease and opens the turn. */
  | {
      readonly do: "record";
      readonly opens: boolean;
      readonly prepared: PreparedCall;
      readonly nowMs: number;
    }
  /** Asks the provider how long the prompt is. */
  | { readonly do: "count"; readonly prepared: PreparedCall }
  /** Shortens the history. `nowMs` is null if the clock must be read again. */
  | {
      readonly do: "compact";
      readonly trigger: "size" | "overflow";
      /** Why it is due; null after an overflow. */
      readonly bySize: CompactionDecision<BoundarySizes> | null;
      readonly prepared: PreparedCall;
      readonly nowMs: number | null;
    }
  /** Encodes, sends and decodes. `number` counts from 1 within the turn. */
  | { readonly do: "send"; readonly prepared: PreparedCall; readonly number: number }
  /** `ends`: the turn is done with it, and closed in the same transaction. */
  | {
      readonly do: "record reply";
      readonly entry: CallEntry;
      readonly more: WithCall;
      readonly ends: boolean;
    }
  | { readonly do: "run tools"; readonly uses: readonly ToolUseBlock[] }
  /** Goes on with another model, because the provider of the last call failed for good. */
  | {
      readonly do: "switch model";
      readonly why: ProviderFailure;
      /** The models that this turn asked, by `Session.modelName`, oldest first. */
      readonly tried: readonly string[];
    }
  | { readonly do: "close"; readonly how: TurnEnding };

export type StepOf<Do extends Step["do"]> = Extract<Step, { readonly do: Do }>;

export type Result =
  | {
      readonly did: "refresh";
      readonly session: Session;
      readonly rules: CallRules;
      readonly nowMs: number;
      /** The same time as text. */
      readonly nowIso: string;
      /** Null if the step did not ask for it. */
      readonly volatile: readonly Section[] | null;
    }
  | { readonly did: "prepare"; readonly assembly: Assembly; readonly plan: CachePlan }
  | { readonly did: "record" }
  | { readonly did: "count"; readonly tokens: number }
  | {
      readonly did: "compact";
      readonly outcome:
        | Pick<Compacted, "kind" | "session" | "before" | "current" | "compaction">
        | Pick<Unchanged, "kind" | "session" | "isTight">;
    }
  | {
      readonly did: "send";
      readonly sent: SentCall;
      /** What the encoder left out or changed. */
      readonly notes: EncodedRequest["notes"];
      /** What the request held besides its prompt, as far as it is known. */
      readonly besides?: SentBesides;
      readonly startMs: number;
      readonly endMs: number;
    }
  | { readonly did: "record reply" }
  /** One tool message for each use, or the messages that the application sends instead. */
  | {
      readonly did: "run tools";
      readonly answers: readonly Message[];
      /** When each ran; absent if the application ran them. */
      readonly runs?: readonly ToolRun[];
    }
  /** Null if no other model can take the turn. */
  | { readonly did: "switch model"; readonly moved: MovedTurn | null };

export type ResultOf<Did extends Result["did"]> = Extract<Result, { readonly did: Did }>;

/** Inputs that may come at any time. */
export type Input =
  | Result
  | { readonly did: "steer"; readonly messages: readonly Message[] }
  | { readonly did: "abort"; readonly reason: unknown };
