// A session: what is fixed when it starts, and what grows with every call. A value; a failed call changes nothing.
import type { PaddingPlan } from "../assembly/padding.ts";
import type { Thread } from "../assembly/thread.ts";
import type { CacheState } from "../cache/cache-state.ts";
import type { Pace, PaceKind } from "../cache/pace.ts";
import type { Policy } from "../cache/policy.ts";
import type { CompactionState } from "../compaction/plan/compaction-state.ts";
import type { ContentHash } from "../hash.ts";
import type { LoadedSkill } from "../skills/activation-events.ts";
import type { SkillSource } from "../skills/skill.ts";
import type { ContextParts } from "../layers/to-sections.ts";
import type { Section } from "../layers/section.ts";
import type { NewSession } from "../ledger/session-record.ts";
import type { AgentRole } from "../message/assembled-context.ts";
import type { Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TextCounter } from "../tokens/o200k/counter.ts";
import type { LeftTool, OfferedTool } from "../tools/select-tools.ts";
import type { CallOptions, Protocol } from "../wire/protocol.ts";
import type { Spent } from "./spent.ts";

export interface Session {
  /** Its name in the ledger. */
  readonly id: string;
  /** Who works in it, as users call it. */
  readonly agent: string;
  /** The turn it goes on from; null before the first. */
  readonly headTurnId: string | null;
  /** Whether the ledger knows it: from its first turn on. */
  readonly isRecorded: boolean;
  readonly model: ModelFacts;
  /** By which a catalogue finds the model again: route, region and window are in the spelling. */
  readonly modelName: string;
  readonly protocol: Protocol;
  readonly policy: Policy;
  readonly role: AgentRole;
  /** The folder it works in; null for none. */
  readonly workspacePath: string | null;
  readonly options: CallOptions;
  readonly thread: Thread;
  readonly cache: CacheState;
  readonly pace: Pace;
  /** What it knows of its compactions. */
  readonly compactionState: CompactionState;
  /** What is paid for and not booked yet. */
  readonly spent: Spent;
  /** What the last call was told for itself, where that stands before the messages; null for nothing. */
  readonly toldVolatile: string | null;
  /** Who asked for it, and for what; of a sub-agent, and until it is recorded. */
  readonly origin?: SessionOrigin;
  /** Where the ledger has its tools and system text. */
  readonly setupPlace: SetupPlace;
  /** Models it was with before, the latest first: it may go back to them. */
  readonly otherModels: readonly ModelState[];
  /** The model that its next turn goes to if nothing else is decided; null where nobody chose one yet. */
  readonly staysWith: StaysWith | null;
  /** When the ledger first knew it, in milliseconds since 1970; null before. */
  readonly openedMs: number | null;
  /** How the static prefix was brought to the provider's minimum, or why not. */
  readonly padding: PaddingPlan;
  /** Skills whose whole body is in the foundation. */
  readonly preactivated: readonly LoadedSkill[];
  /** Tools on offer that this agent is not told of. */
  readonly toolsLeft: readonly LeftTool[];
  readonly permissions: readonly string[];
  /** What the foundation was made of: names, sizes and hashes. Goes into `contextJson`. */
  readonly madeOf: readonly SectionNote[];
  /** What a person should know once, and not on every call. */
  readonly warnings: readonly string[];
}

/** With the session itself or its latest compaction, where `turnId` is null; else with the turn that brought this model. */
export interface SetupPlace {
  readonly turnId: string | null;
  /** False as long as no turn that brings it is completed. */
  readonly isRecorded: boolean;
  /** Up to this turn its own thoughts are not shown to it either; null where they all are. */
  readonly after: string | null;
}

/** What is known of a model that the session was with. */
export interface ModelState {
  readonly model: string;
  readonly provider: string;
  /** As `Session.modelName`: what was kept for a model by one route is of no use by another. */
  readonly name: string;
  readonly cache: CacheState;
  readonly pace: Pace;
  readonly toldVolatile: string | null;
  /** As it was left; null where it must be read or made again. */
  readonly left: ModelSetup | null;
}

/** All of a session that is made for its model. */
export type ModelSetup = Pick<
  Session,
  | "model"
  | "modelName"
  | "protocol"
  | "policy"
  | "options"
  | "thread"
  | "setupPlace"
  | "padding"
  | "preactivated"
  | "toolsLeft"
  | "permissions"
  | "madeOf"
>;

export interface StaysWith {
  /** As `Session.modelName`. */
  readonly model: string;
  /** Who asked for it by name: where a person did, rules and patterns are not asked. Null for nobody. */
  readonly chosenBy: "person" | "delegate" | null;
}

/** The session, turn and tool use it was asked for in, and its task. */
export type SessionOrigin = Pick<NewSession, "parent" | "task">;

/** Of a section; or, where there is a `note`, of what sections come from, with hash and size of the note. */
export interface SectionNote {
  readonly name: string;
  readonly layer: Section["layer"];
  readonly hash: ContentHash;
  readonly bytes: number;
  /** As the setup gave it. */
  readonly note?: object;
}

export interface SessionSetup {
  /** Its name in the ledger; one that is not taken by default. */
  readonly id?: string;
  /** Who works in it, as users call it; `agent` by default. */
  readonly agent?: string;
  readonly origin?: SessionOrigin;
  /** The folder it works in, for the record. */
  readonly workspacePath?: string;
  readonly model: ModelFacts;
  /** As somebody spelled it, with its route; made from the facts by default. */
  readonly modelName?: string;
  readonly protocol: Protocol;
  readonly policy: Policy;
  /** Everything the system prompt is made of, except the skill index. */
  readonly context: Omit<ContextParts, "skillIndex">;
  /** With `permissions` and `toolsLeft` what the dispatcher's `toolsFor` gives. */
  readonly tools?: readonly OfferedTool[];
  readonly permissions?: readonly string[];
  /** Tools that were left out before, with the reasons; told of with those that are left out here. */
  readonly toolsLeft?: readonly LeftTool[];
  /** What is recorded beside the sections, by name: where their texts come from, as hashes and sizes. */
  readonly notes?: Readonly<Record<string, object>>;
  readonly skills?: readonly SessionSkill[];
  readonly counter: TextCounter;
  readonly pace?: PaceKind;
  readonly staysWith?: StaysWith;
  readonly options: CallOptions;
  /** A conversation to go on from, in whatever model's words. */
  readonly messages?: readonly Message[];
  /** What other sessions on this provider and model know: prefixes that are kept, promises that are not. */
  readonly learned?: Pick<CacheState, "entries" | "evidence">;
}

export interface SessionSkill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
  /** Where it was found; `workspace` by default. */
  readonly source?: SkillSource;
}

/** Recorded with the session. */
export const firstPlace: SetupPlace = { turnId: null, isRecorded: true, after: null };

/** A catalogue finds the same model on the same route by it. */
export function nameOf({ id, route }: Pick<ModelFacts, "id" | "route">): string {
  return `${route}/${id}`;
}
