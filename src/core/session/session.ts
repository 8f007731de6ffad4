// A session as a value: what is fixed when it starts, and what grows with every call.
import type { PaddingPlan } from "../assembly/padding.ts";
import type { Thread } from "../assembly/thread.ts";
import type { CacheState } from "../cache/cache-state.ts";
import type { Pace, PaceKind } from "../cache/pace.ts";
import type { Policy } from "../cache/policy.ts";
import type { WarmBooks } from "../cache/warm-books.ts";
import type { CompactionState } from "../compaction/plan/compaction-state.ts";
import type { LastCall } from "../diagnosis/own/last-call.ts";
import type { ContentHash } from "../hash.ts";
import type { PlannedPrefix } from "../cache/cache-plan.ts";
import type { HeldPrefix } from "./held-prefix.ts";
import type { LoadedSkill } from "../skills/activation-events.ts";
import type { SkillSource } from "../skills/skill.ts";
import type { ContextParts } from "../layers/to-sections.ts";
import type { Section } from "../layers/section.ts";
import type { NewSession } from "../ledger/session-record.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { LearnedSizes } from "../tokens/learned-sizes.ts";
import type { TextCounter } from "../tokens/o200k/counter.ts";
import type { LeftTool, OfferedTool } from "../tools/select-tools.ts";
import type { CallOptions, Protocol } from "../wire/protocol.ts";
import type { Spent } from "./summary-bill.ts";

export interface Session {
  readonly id: string;
  readonly agent: string;
  /** Its latest turn; null before the first. */
  readonly headTurnId: string | null;
  /** Whether the ledger has it. It is recorded with its first turn. */
  readonly isRecorded: boolean;
  readonly model: ModelFacts;
  /** The name that finds the model in a catalogue, with route, region and window. */
  readonly modelName: string;
  readonly protocol: Protocol;
  readonly policy: Policy;
  readonly role: AgentRole;
  /** The folder it works in; null for none. */
  readonly workspacePath: string | null;
  readonly options: CallOptions;
  readonly thread: Thread;
  readonly cache: CacheState;
  /** How far estimates are off on this model, and its real limit. */
  readonly sizes: LearnedSizes;
  readonly pace: Pace;
  /** What keeping it warm cost and saved. */
  readonly warm: WarmBooks;
  /** What it knows about its compactions. */
  readonly compactionState: CompactionState;
  /** Costs that are not booked yet. */
  readonly spent: Spent;
  /** The volatile text of the last call, if it stands before the messages; null for none. */
  readonly lastVolatile: string | null;
  /** The call before, to compare the next one with; null before the first. */
  readonly lastCall: LastCall | null;
  /** The parent and task of a sub-agent, until the session is recorded. */
  readonly origin?: SessionOrigin;
  /** Names it is recorded under, until it is recorded. */
  readonly labels?: SessionLabels;
  /** Where the ledger has the setup for the current model. */
  readonly setupPlace: SetupPlace;
  /** Models it used before, the latest first. It may go back to them. */
  readonly otherModels: readonly ModelState[];
  /** The model of its next turn unless a rule decides otherwise; null if none was chosen yet. */
  readonly staysWith: StaysWith | null;
  /** Models that are not asked first for a while, because their providers failed. */
  readonly resting: readonly RestingModel[];
  /** When it was recorded, in milliseconds since 1970; null before. */
  readonly openedMs: number | null;
  /** How the static prefix was brought to the provider's minimum, or why not. */
  readonly padding: PaddingPlan;
  /** Skills whose whole body is in the foundation. */
  readonly preactivated: readonly LoadedSkill[];
  /** Offered tools that are left out for this agent, with reasons. */
  readonly toolsLeft: readonly LeftTool[];
  readonly permissions: readonly string[];
  /** The name of the toolset that its tools are from; null if none chose them. */
  readonly toolset: string | null;
  /** The parts of the foundation: names, sizes and hashes. Stored in `contextJson`. */
  readonly madeOf: readonly SectionNote[];
  /** Names of its tools that Strata added; the others are the user's. */
  readonly strataTools: readonly string[];
  /** What the provider keeps for it under a name; absent for nothing. It ends with the process. */
  readonly stored?: HeldPrefix;
  /** The prefix that the provider did not have any more when the last call named it; absent for none. */
  readonly lostPrefix?: PlannedPrefix;
  /** Warnings to show a person once, not on every call. */
  readonly warnings: readonly string[];
}

/** Where the ledger has a model's setup: with that turn, or with the session or its latest compaction if `turnId` is null. */
export interface SetupPlace {
  readonly turnId: string | null;
  /** False until the turn that brings the model is completed. */
  readonly isRecorded: boolean;
  /** The model's own thinking up to this turn is left out of the prompt; null to leave out none. */
  readonly after: string | null;
}

/** What a session keeps for each other model it used: the model's setup as it was left, and the state of its cache and pace. */
export interface ModelState {
  readonly model: string;
  readonly provider: string;
  /** As `Session.modelName`. State of one route is useless on another. */
  readonly name: string;
  readonly cache: CacheState;
  readonly sizes: LearnedSizes;
  readonly pace: Pace;
  readonly lastVolatile: string | null;
  /** The setup as it was left; null if it must be read from the ledger or built again. */
  readonly setup: ModelSetup | null;
}

/** What a session notes about its tools and system text. */
export type FoundationNotes = Pick<
  Session,
  "padding" | "preactivated" | "toolsLeft" | "permissions" | "toolset" | "madeOf" | "strataTools"
>;

/** The part of a session that belongs to one model: tools and system text as sent, options, thread. */
export type ModelSetup = FoundationNotes &
  Pick<
    Session,
    "model" | "modelName" | "protocol" | "policy" | "options" | "thread" | "setupPlace"
  >;

export interface RestingModel {
  /** As `Session.modelName`. */
  readonly name: string;
  readonly untilMs: number;
}

export interface StaysWith {
  /** As `Session.modelName`. */
  readonly model: string;
  /** Who chose the model by name. A person's choice overrides routing rules. Null if it was not chosen by name. */
  readonly chosenBy: "person" | "delegate" | null;
}

/** The session, turn and tool use that started a sub-agent, and its task. */
export type SessionOrigin = Pick<NewSession, "parent" | "task">;

/** The persona it speaks as, and what an application finds it by. */
export type SessionLabels = Pick<NewSession, "personaId" | "routingKey">;

/** Name, size and hash of a section, or of the host's note about where sections come from. */
export interface SectionNote {
  readonly name: string;
  readonly layer: Section["layer"];
  readonly hash: ContentHash;
  readonly bytes: number;
  readonly note?: object;
}

export interface SessionSetup {
  /** Its id in the ledger; a new one by default. */
  readonly id?: string;
  /** The agent's name; `agent` by default. */
  readonly agent?: string;
  readonly origin?: SessionOrigin;
  /** The name of its persona, for the record. */
  readonly personaId?: string;
  /** What the application finds it by, for the record. */
  readonly routingKey?: string;
  /** The folder it works in, for the record. */
  readonly workspacePath?: string;
  readonly model: ModelFacts;
  /** The model's name as the caller spelled it, with its route; built from the facts by default. */
  readonly modelName?: string;
  readonly protocol: Protocol;
  readonly policy: Policy;
  /** Everything the system prompt is made of, except the skill index. */
  readonly context: Omit<ContextParts, "skillIndex">;
  /** `tools`, `permissions`, `toolset` and `toolsLeft` together are the result of the dispatcher's `toolsFor`. */
  readonly tools?: readonly OfferedTool[];
  readonly permissions?: readonly string[];
  readonly toolset?: string;
  /** Tools that were already left out, with reasons. The session lists them with those it leaves out itself. */
  readonly toolsLeft?: readonly LeftTool[];
  /** Notes recorded beside the sections, by name: the sources of their texts, as hashes and sizes. */
  readonly notes?: Readonly<Record<string, object>>;
  readonly skills?: readonly SessionSkill[];
  readonly counter: TextCounter;
  readonly pace?: PaceKind;
  /** The paces of the agent's earlier sessions with this model. */
  readonly earlierPaces?: readonly Pace[];
  readonly staysWith?: StaysWith;
  readonly options: CallOptions;
  /** A conversation to continue, from any model. */
  readonly messages?: readonly Message[];
  /** What other sessions learned about this provider and model: cached prefixes, refuted promises. */
  readonly learned?: Partial<Pick<CacheState, "entries" | "evidence" | "unasked">>;
}

export interface SessionSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** Where it was found; `workspace` by default. */
  readonly source?: SkillSource;
}

export function foundationNotesOf(made: FoundationNotes): FoundationNotes {
  const { padding, preactivated, toolsLeft, permissions, toolset, madeOf, strataTools } = made;
  return { padding, preactivated, toolsLeft, permissions, toolset, madeOf, strataTools };
}

/** The place of a setup that is recorded with the session itself. */
export const firstPlace: SetupPlace = { turnId: null, isRecorded: true, after: null };

/** The name that finds the same model on the same route in a catalogue. */
export function nameOf({ id, route }: Pick<ModelFacts, "id" | "route">): string {
  return id.startsWith(`${route}/`) ? id : `${route}/${id}`;
}
