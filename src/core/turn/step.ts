// The steps of a turn. Each step has one kind of result.
import type { Assembly } from "../assembly/assemble.ts";
import type { CachePlan } from "../cache/cache-plan.ts";
import type { Section } from "../layers/section.ts";
import type { CallEntry } from "../ledger/call-entry.ts";
import type { WithCall } from "../ledger/ledger.ts";
import type { Message, ToolUseBlock } from "../message/message.ts";
import type { Session } from "../session/session.ts";
import type { SentCall } from "./settle-call.ts";
import type { EncodedRequest } from "../wire/encoded-request.ts";
import type { PreparedCall } from "./prepare-call.ts";
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
      readonly prepared: PreparedCall;
      readonly nowMs: number | null;
    }
  /** Encodes, sends and decodes. `number` counts from 1 within the turn. */
  | { readonly do: "send"; readonly prepared: PreparedCall; readonly number: number }
  | { readonly do: "record reply"; readonly entry: CallEntry; readonly more: WithCall }
  | { readonly do: "run tools"; readonly uses: readonly ToolUseBlock[] }
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
  | ({ readonly did: "compact" } & CompactionResult)
  | {
      readonly did: "send";
      readonly sent: SentCall;
      /** What the encoder left out or changed. */
      readonly notes: EncodedRequest["notes"];
      readonly startMs: number;
      readonly endMs: number;
    }
  | { readonly did: "record reply" }
  /** One tool message for each use, or the messages that the application sends instead. */
  | { readonly did: "run tools"; readonly answers: readonly Message[] };

export type CompactionResult =
  | {
      readonly isCompacted: true;
      /** The new value of the session before the running turn. */
      readonly before: Session;
      readonly session: Session;
      /** The new messages of the next call. */
      readonly current: readonly Message[];
    }
  | {
      readonly isCompacted: false;
      /** The session with what the attempt taught. */
      readonly session: Session;
      /** The prompt does not fit and nothing could be compacted: memory leaves the prompt. */
      readonly isTight: boolean;
    };

/** Inputs that may come at any time. */
export type Input =
  | Result
  | { readonly did: "steer"; readonly messages: readonly Message[] }
  | { readonly did: "abort"; readonly reason: unknown };
