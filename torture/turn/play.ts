// Plays a course: an interpreter of the turn's machine, on a log in memory, in processes that die where the course
// says so. What it sees on the way that must not be is a problem.
import { assemble } from "../../src/core/assembly/assemble.ts";
import { appendMessages, openThread } from "../../src/core/assembly/thread.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { itemsOf } from "../../src/core/growing/growing-list.ts";
import type { Message } from "../../src/core/message/message.ts";
import type { CompactionRules } from "../../src/core/session/compaction-rules.ts";
import { withoutThinking } from "../../src/core/message/without-thinking.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { changeSetup } from "../../src/core/session/change-setup.ts";
import { withState } from "../../src/core/session/session-state.ts";
import {
  foundationNotesOf,
  nameOf,
  type ModelSetup,
  type Session,
} from "../../src/core/session/session.ts";
import { toSession } from "../../src/core/session/to-session.ts";
import { moveTurn, toLeave, toNextModel } from "../../src/core/turn/move-turn.ts";
import { applyResult, toClosed } from "../../src/core/turn/apply-result.ts";
import { countedMessages } from "../../src/core/assembly/thread.ts";
import { nextStep } from "../../src/core/turn/next-step.ts";
import { toAssemble, toPlan } from "../../src/core/turn/prepare-call.ts";
import { restoreTurn } from "../../src/core/turn/restore-turn.ts";
import type { Result, Step } from "../../src/core/turn/step.ts";
import { type TurnEnding, callCountOf, openTurn, type Turn } from "../../src/core/turn/turn.ts";
import { moment, rulesOf, timeOf } from "./circumstances.ts";
import type { Course, Interruption, Place, StepName } from "./course.ts";
import { isSameTalk, type Commit, type Log } from "./log.ts";
import { answerOf, bill, cancelledReply, countOf, replyTo, wordsOf } from "./outcomes.ts";
import { fallbackOf, toStage } from "./stages.ts";
import { playCompaction } from "./play-compaction.ts";
import { findRepeated } from "./judge.ts";

export interface Played {
  readonly log: Log;
  readonly ends: readonly TurnEnding[];
  /** What must not be, in words. */
  readonly problems: readonly Problem[];
  /** Words and aborts that died with a process before the ledger had anything of them. */
  readonly lost: ReadonlySet<Interruption>;
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Every step in order, for people. */
  readonly trail: readonly string[];
}

export const problemKinds = [
  "does not end",
  "more calls than allowed",
  "sent and not recorded",
  "reply applied twice",
  "words sent twice",
  "other talk than the ledger's",
] as const;

export interface Problem {
  readonly kind: (typeof problemKinds)[number];
  readonly detail: string;
}

/** What a course begins with. */
export interface Scene {
  readonly session: Session;
  readonly log: Log;
  /** Turns that are over. */
  readonly turnCount: number;
}

/** A process that dies: nothing it knew is left. */
export class Killed extends Error {}

/** A course of this many steps does not end. */
const stepsMax = 1_000;

export function play(course: Course, scene: Scene): Played {
  const player = createPlayer(course, scene);
  let { session } = scene;
  const ends: TurnEnding[] = [];
  for (let number = 1; number <= course.turnCount; number += 1) {
    const end = player.playTurn(number, session);
    if (end === null) break;
    session = end.session;
    ends.push(end.how);
  }
  return { ...player.played(), ends };
}

/** What the interpreters of both machines share. */
export interface Process {
  readonly course: Course;
  readonly log: Log;
  readonly rules: CompactionRules;
  readonly now: () => number;
  isAborted: boolean;
  /** Comes to a step: hears what is said there, and may die. */
  reach(step: StepName, place: Place): readonly Message[];
  /** Did what the step asks for, and may die before anything is made of it. */
  leave(step: StepName, place: Place): void;
  count(what: string): void;
}

interface Player {
  playTurn(number: number, session: Session): { session: Session; how: TurnEnding } | null;
  played(): Omit<Played, "ends">;
}

function createPlayer(course: Course, scene: Scene): Player {
  const log = scene.log.copy();
  const problems: Problem[] = [];
  const trail: string[] = [];
  const counts = new Map<string, number>();
  const lost = new Set<Interruption>();
  const settled = new Set<Interruption>();
  const heard = new Set<Interruption>();
  const kills = [...course.kills];
  let left = kills.shift() ?? Infinity;
  let steps = 0;
  let turnNumber = 0;

  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const die = (where: string): void => {
    left -= 1;
    if (left >= 0) return;
    left = kills.shift() ?? Infinity;
    count(`killed ${where}`);
    trail.push(`KILLED ${where}`);
    for (const each of heard) if (!settled.has(each)) lost.add(each);
    life.isAborted = false;
    throw new Killed(where);
  };
  const life: Process = {
    course,
    log,
    rules: rulesOf(course),
    now: () => timeOf(course, scene.turnCount + turnNumber, log.answeredCount),
    isAborted: false,
    reach: (step, { turn, call }) => {
      const words: Message[] = [];
      for (const [at, each] of course.interruptions.entries()) {
        if (each.turn !== turn || each.call !== call || each.step !== step) continue;
        if (heard.has(each)) continue;
        heard.add(each);
        count(`${each.what} at ${step}`);
        trail.push(`${each.what.toUpperCase()} at ${turn}.${call} ${step}`);
        if (each.what === "abort") life.isAborted = true;
        else words.push(wordsOf(at));
      }
      if (words.length === 0) {
        trail.push(`${turn}.${call} ${step}`);
        die(`before ${step}`);
      }
      return words;
    },
    leave: (step) => die(`after ${step}`),
    count,
  };
  let seen = 0;
  /** What the ledger has of them does not die any more. */
  const settle = (): void => {
    const made = log.commits.slice(seen);
    seen = log.commits.length;
    for (const [at, each] of course.interruptions.entries()) {
      if (made.some((commit) => hasIn(commit, each, at)) && heard.has(each)) settled.add(each);
    }
  };
  return {
    playTurn: (number, session) => {
      turnNumber = number;
      const id = `turn-${scene.turnCount + number}`;
      for (let before = session; ; before = restoreSession(course, scene.session, log)) {
        try {
          if (log.hasTurn(id) && log.openTurnId !== id) return { session: before, how: "done" };
          const isResumed = log.openTurnId === id;
          if (isResumed) count("resumed");
          let turn = isResumed ? toResumed(before, id, life) : toBegun(before, id, life);
          for (;;) {
            if ((steps += 1) > stepsMax) {
              problems.push({ kind: "does not end", detail: `${stepsMax} steps` });
              return null;
            }
            const place = { turn: number, call: callCountOf(turn) + 1 };
            const step = nextStep(turn);
            const words = life.reach(step.do, place);
            if (words.length > 0) {
              turn = applyResult(turn, { did: "steer", messages: words });
              continue;
            }
            if (life.isAborted && turn.aborted === null) {
              turn = applyResult(turn, { did: "abort", reason: "stopped" });
            }
            if (step.do === "close") {
              const { session: after, end } = toClosed(turn, step.how, life.now());
              log.close(id, end);
              // Words that no call sent are handed back.
              for (const each of heard) settled.add(each);
              count(`ended ${step.how}`);
              life.leave("close", place);
              problems.push(...otherTalk(after, log, null, "after the turn"));
              life.isAborted = false;
              return { session: after, how: step.how };
            }
            if (step.do === "send") problems.push(...checkSent(step, turn, log));
            const result = carryOut(step, turn, place, life);
            settle();
            life.leave(step.do, place);
            turn = applyResult(turn, result);
          }
        } catch (error) {
          if (!(error instanceof Killed)) throw error;
        }
      }
    },
    played: () => ({ log, problems, lost, counts, trail }),
  };
}

/** Whether a write has what somebody said, or that a call was aborted. */
function hasIn({ rows, what }: Commit, { what: came }: Interruption, at: number): boolean {
  const text = JSON.stringify(rows, (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  );
  return came === "say"
    ? text.includes(`Meanwhile ${at}.`)
    : what === "call" && text.includes('"kind":"cancelled"');
}

/** The session as a new process reads it. */
export function restoreSession({ stage }: Course, first: Session, log: Log): Session {
  const talk = log.shown(null).messages.map(({ message }) => message);
  const setup = log.model === null ? first : setupWith(stage, log.model);
  const thread = appendMessages(openThread(setup.thread.foundation), talk);
  const { headTurnId } = log;
  const setupPlace = log.model === null ? first.setupPlace : log.setupPlace;
  return withState({ ...first, ...setup, setupPlace, headTurnId, thread }, log.stateJson);
}

/** The setup of another model, without a conversation. */
function setupWith(stage: Course["stage"], model: string): ModelSetup {
  const { setup } = toStage(stage, model);
  const made = toSession(setup);
  const { modelName, protocol, policy, options, thread } = made;
  return {
    ...foundationNotesOf(made),
    model: made.model,
    modelName,
    protocol,
    policy,
    options,
    thread,
    setupPlace: { turnId: null, isRecorded: false, after: null },
  };
}

/** As src/engine/session/fall-back.ts does it; a model that was left before is not asked again. */
function playSwitch(
  { tried }: Extract<Step, { readonly do: "switch model" }>,
  turn: Turn,
  life: Process,
): Result {
  const { course, log, now } = life;
  const models = course.fallsBack ? fallbackOf(course.stage) : [];
  const model = models.find((name) => ![...tried, ...log.left].includes(nameOfModel(name)));
  if (model === undefined) return { did: "switch model", moved: null };
  life.count("fallbacks");
  const session = toLeave(turn);
  const setup = setupWith(course.stage, model);
  const talk = [...itemsOf(session.thread.messages)].map(withoutThinking);
  const thread = appendMessages(setup.thread, talk);
  const route = { by: "fallback" as const, passedOver: [], left: null };
  const nowIso = new Date(now()).toISOString();
  const moved = moveTurn(turn, changeSetup(session, { ...setup, thread }), { route, nowIso });
  log.switchModel(turn.id, toNextModel(moved, turn.id));
  return { did: "switch model", moved };
}

function nameOfModel(name: string): string {
  return nameOf(resolveModel(name).facts);
}

function toBegun(before: Session, id: string, { now, course }: Process): Turn {
  const startMs = now();
  const startIso = new Date(startMs).toISOString();
  const text = `Ask ${id}.`;
  return openTurn({
    id,
    startMs,
    event: {
      sourceId: null,
      attachments: [],
      message: null,
      moment,
      context: { source: "human", platform: "terminal", hookCount: 0, injectedAt: startIso },
      startIso,
      timeSentMs: null,
    },
    limits: { callsMax: course.callsMax, mayCompact: true, repeatsFailedCalls: false },
    before,
    current: [{ role: "user", content: [{ type: "text", text }] }],
  });
}

function toResumed(before: Session, id: string, { log, now, course }: Process): Turn {
  const nowIso = new Date(now()).toISOString();
  const { callsMax } = course;
  return restoreTurn(before, log.recorded(id), { moment, callsMax, nowIso });
}

/** The effects, as src/engine.ts has them. */
function carryOut(
  step: Exclude<Step, { readonly do: "close" }>,
  turn: Turn,
  place: Place,
  life: Process,
): Result {
  const { course, log, now } = life;
  const { session } = turn;
  switch (step.do) {
    case "refresh": {
      const nowMs = now();
      // After a compaction the system text has it.
      const hasMemory = course.hasMemory && !log.commits.some(({ what }) => what === "fold");
      const volatile = step.volatile ? (hasMemory ? [memory] : []) : null;
      const rules = { compaction: life.rules, canCount: course.canCount };
      return {
        did: "refresh",
        session,
        rules,
        nowMs,
        nowIso: new Date(nowMs).toISOString(),
        volatile,
      };
    }
    case "prepare": {
      const assembly = assemble(toAssemble(session, step));
      return {
        did: "prepare",
        assembly,
        plan: planCache(toPlan(session, assembly, step.nowMs ?? now())),
      };
    }
    case "record": {
      const messages = countedMessages(
        step.prepared.assembly.plainThread,
        session.thread.messages.length,
      );
      const { id, before, event } = turn;
      const contextJson =
        event.context === null ? {} : { contextJson: JSON.stringify(event.context) };
      if (step.opens) {
        const { headTurnId: parentTurnId } = before;
        const noted = messages.map((message) => ({ ...message, ...contextJson }));
        log.openTurn({ id, parentTurnId, startMs: step.nowMs, messages: noted });
      } else if (messages.length > 0) log.answer(id, messages);
      return { did: "record" };
    }
    case "count":
      return { did: "count", tokens: countOf(course, place, step.prepared.promptTokens) };
    case "compact":
      life.count(`compaction for ${step.trigger}`);
      return { did: "compact", outcome: playCompaction(step, turn, place, life) };
    case "send": {
      life.count("calls");
      const hasThinking = session.model.capabilities.thinkingBoundToPrefix;
      const said = life.isAborted
        ? cancelledReply(course, place)
        : replyTo(course, place, hasThinking);
      const outcome = bill(said, step.prepared.promptTokens);
      life.count(
        `sent: ${outcome.kind === "reply" ? `${outcome.stopReason}, ${outcome.status}` : outcome.kind}`,
      );
      const nowMs = now();
      return {
        did: "send",
        sent: { outcome, attempts: [] },
        notes: [],
        startMs: nowMs,
        endMs: nowMs,
      };
    }
    case "switch model":
      return playSwitch(step, turn, life);
    case "record reply":
      log.append(step.entry, step.more);
      return { did: "record reply" };
    case "run tools":
      life.count("tools run");
      return {
        did: "run tools",
        answers: step.uses.map((use, at) => answerOf(course, place, use, at)),
      };
  }
}

const memory = {
  name: "note",
  layer: "memory",
  stability: "turn",
  text: "A note was added.",
} as const;

/** What is sent of the conversation is what the ledger has of it, and everything stands in it once. */
function checkSent(
  { prepared, number }: Extract<Step, { readonly do: "send" }>,
  { id, limits }: Turn,
  log: Log,
): readonly Problem[] {
  const sent = [...itemsOf(prepared.assembly.plainThread.messages)];
  const recorded =
    log.openTurnId === id ? log.shown(id).messages.map(({ message }) => message) : [];
  const found: (readonly [Problem["kind"], string])[] = [
    ...findRepeated(sent, "assistant").map((what) => ["reply applied twice", what] as const),
    ...findRepeated(sent, "user").map((what) => ["words sent twice", what] as const),
  ];
  if (!isSameTalk(sent, recorded)) found.push(["sent and not recorded", describe(sent, recorded)]);
  if (number > limits.callsMax) found.push(["more calls than allowed", String(limits.callsMax)]);
  return found.map(([kind, detail]) => ({ kind, detail: `call ${number} of ${id}: ${detail}` }));
}

function otherTalk(
  session: Session,
  log: Log,
  turnId: string | null,
  when: string,
): readonly Problem[] {
  const known = [...itemsOf(session.thread.messages)];
  const recorded = log.shown(turnId).messages.map(({ message }) => message);
  if (isSameTalk(known, recorded)) return [];
  const detail = `${when}: ${describe(known, recorded)}`;
  return [{ kind: "other talk than the ledger's", detail }];
}

function describe(one: readonly Message[], other: readonly Message[]): string {
  const at = one.findIndex(
    (message, index) => !isSameTalk([message], other.slice(index, index + 1)),
  );
  // oxlint-disable-next-line unicorn/consistent-function-scoping
  const short = (message: Message | undefined): string =>
    JSON.stringify(message)?.slice(0, 160) ?? "nothing";
  const place = at === -1 ? one.length : at;
  return `${one.length} messages, recorded ${other.length}; at ${place}: ${short(one[place])} against ${short(other[place])}`;
}
