// One process of a course through the engine: its edges, each of which may be where it dies. From then on nothing it
// does reaches the ledger.
import type { CompactionLock, Ledger, OpenTurn } from "../../../src/core/ledger/ledger.ts";
import type { Message } from "../../../src/core/message/message.ts";
import { summarySections } from "../../../src/core/compaction/summary/sections.ts";
import { nameOf } from "../../../src/core/session/session.ts";
import { moveTurn, toLeave, type MovedTurn } from "../../../src/core/turn/move-turn.ts";
import type { StepOf } from "../../../src/core/turn/step.ts";
import { isOverflow, type Turn } from "../../../src/core/turn/turn.ts";
import { bodyText } from "../../../src/core/wire/encoded-request.ts";
import type { ProviderFailure } from "../../../src/core/wire/failure.ts";
import type { Reply } from "../../../src/core/wire/reply.ts";
import type { Provider } from "../../../src/edge/providers/provider.ts";
import { switchModel } from "../../../src/engine/session/switch-model.ts";
import type { Deps } from "../../../src/engine.ts";
import { chance, type Course, type Interruption, type Place } from "../course.ts";
import { answerOf, bill, cancelledReply, replyTo, say, wordsOf } from "../outcomes.ts";
import { rulesOf, timeOf } from "../circumstances.ts";
import { fallbackOf, toStage } from "../stages.ts";

/** What outlives the processes of a course. */
export interface RealWorld {
  readonly course: Course;
  readonly ledger: Ledger;
  /** What was said in the turns before the course. */
  readonly earlier: readonly (readonly Message[])[];
  /** From 1; below that are the turns before the course. */
  turnNumber: number;
  readonly turnId: () => string;
  answered: number;
  /** How many places are left until the process dies. */
  left: number;
  /** What was sent before the ledger had it. */
  unrecorded: number;
  readonly heard: Set<Interruption>;
  readonly count: (what: string) => void;
}

/** A process that dies. */
export class Crash extends Error {}

export interface RealProcess {
  readonly deps: Deps;
  readonly isAborted: () => boolean;
}

export function startProcess(world: RealWorld): RealProcess {
  const { course, ledger, count } = world;
  const { settings, reserves } = rulesOf(course);
  const stop = new AbortController();
  const words: Message[] = [];
  let isDead = false;
  const die = (where: string): void => {
    if (isDead) throw new Crash("dead already");
    world.left -= 1;
    if (world.left >= 0) return;
    isDead = true;
    count("kills");
    count(`killed ${where}`);
    throw new Crash(where);
  };
  const through = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
    die(`before ${name}`);
    const value = await work();
    die(`after ${name}`);
    return value;
  };
  const placeNow = async (): Promise<Place> => {
    const turn = await ledger.findTurn(world.turnId());
    return { turn: world.turnNumber, call: (turn?.callCount ?? 0) + 1 };
  };
  const hear = ({ turn, call }: Place, step: "send" | "run tools"): void => {
    for (const [at, each] of course.interruptions.entries()) {
      if (each.turn !== turn || each.call !== call || each.step !== step) continue;
      if (world.heard.has(each)) continue;
      world.heard.add(each);
      count(`${each.what} at ${step}`);
      if (each.what === "abort") stop.abort();
      else words.push(wordsOf(at));
    }
  };
  const hold = (lease: OpenTurn): OpenTurn => ({
    id: lease.id,
    sessionId: lease.sessionId,
    get parentTurnId() {
      return lease.parentTurnId;
    },
    append: (entry, more) =>
      through("record reply", async () => {
        await lease.append(entry, more);
        if (entry.status === "complete") world.answered += 1;
      }),
    answer: (messages) => through("record", () => lease.answer(messages)),
    compact: (compaction, lock, events) =>
      through("commit", () => lease.compact(compaction, lock, events)),
    switchModel: (next) => through("switch model", () => lease.switchModel(next)),
    close: (end, events) => through("close", () => lease.close(end, events)),
    release: () => (isDead ? Promise.reject(new Crash("dead")) : lease.release()),
  });
  const holdLock = (lock: CompactionLock): CompactionLock => ({
    ...lock,
    release: () => (isDead ? Promise.reject(new Crash("dead")) : lock.release()),
  });
  return {
    isAborted: () => stop.signal.aborted,
    deps: {
      ledger: {
        ...ledger,
        openTurn: (turn) => through("open turn", async () => hold(await ledger.openTurn(turn))),
        resumeTurn: async (id) => hold(await ledger.resumeTurn(id)),
        lockCompaction: (id) =>
          through("lock", async () => {
            const lock = await ledger.lockCompaction(id);
            return lock === null ? null : holdLock(lock);
          }),
      },
      provider: {
        send: async ({ request, signal, purpose }) => {
          const text = bodyText(request.pieces);
          const isSummary = purpose === "compaction" || /Write (?:a|one) summary of/.test(text);
          const place = await placeNow();
          if (!isSummary) {
            world.unrecorded += await countUnrecorded(text, world);
            hear(place, "send");
          }
          return through(isSummary ? "summarise" : "send", () => {
            const outcome = isSummary
              ? summaryFor(course, place, signal)
              : outcomeFor(world, place, signal?.aborted === true);
            count(isSummary ? "summaries" : "calls");
            return Promise.resolve(toSent(bill(outcome, Math.round(text.length * 0.9))));
          });
        },
      },
      runTools: async (uses) => {
        const place = await placeNow();
        hear(place, "run tools");
        return through("run tools", () =>
          Promise.resolve(uses.map((use, at) => answerOf(course, place, use, at))),
        );
      },
      now: () => timeOf(course, world.turnNumber + world.earlier.length, world.answered),
      compaction: { settings, reserves, sleep: () => Promise.resolve() },
      signal: stop.signal,
      takeSteered: () => words.splice(0),
      refresh: (session) => through("refresh", () => Promise.resolve(session)),
      switchModel: (turn, step) => fallBack(world, turn, step),
    },
  };
}

/** As src/engine/session/fall-back.ts does it. */
async function fallBack(
  { course, ledger, count, turnNumber, earlier, answered }: RealWorld,
  turn: Turn,
  { tried }: StepOf<"switch model">,
): Promise<MovedTurn | null> {
  const models = course.fallsBack && turnNumber > 0 ? fallbackOf(course.stage) : [];
  const setups = models.map((name) => toStage(course.stage, name).setup);
  const next = setups.find(({ model }) => !tried.includes(nameOf(model)));
  if (next === undefined) return null;
  count("fallbacks");
  const { counter } = next;
  const to = { ...next, modelName: nameOf(next.model) };
  const context = (): Promise<typeof next> => Promise.resolve(next);
  const moved = await switchModel(toLeave(turn), to, { ledger, counter, context });
  const route = { by: "fallback" as const, passedOver: [], left: null };
  const nowMs = timeOf(course, turnNumber + earlier.length, answered);
  return moveTurn(turn, moved, { route, nowIso: new Date(nowMs).toISOString() });
}

/** Words and answers of tools in a request that no message of the ledger holds. */
async function countUnrecorded(body: string, { ledger, turnId }: RealWorld): Promise<number> {
  let recorded = "";
  for await (const { message } of ledger.readThread({ turnId: turnId() })) {
    recorded += JSON.stringify(message);
  }
  const sent = body.match(/Ask turn-\d+\.|Meanwhile \d+\.|Result of use-[\d.-]+\d/g) ?? [];
  return sent.filter((words) => !recorded.includes(words)).length;
}

function outcomeFor(
  { course, earlier, turnNumber }: RealWorld,
  place: Place,
  isAborted: boolean,
): Reply | ProviderFailure {
  const before = earlier.at(turnNumber - 1);
  if (turnNumber <= 0 && before !== undefined) return say(before.at(-1)?.content ?? []);
  if (isAborted) return cancelledReply(course, place);
  const outcome = replyTo(course, place, course.stage === "bound thinking");
  // What such a reply bills is no estimate of ours, and a resumed turn compacts by the bill it has.
  const failure = outcome.kind === "reply" ? outcome.failure : undefined;
  return failure !== undefined && isOverflow({ failure }) ? failure : outcome;
}

function summaryFor(
  { seed }: Course,
  { turn, call }: Place,
  signal: AbortSignal | undefined,
): Reply | ProviderFailure {
  if (signal?.aborted === true) return { kind: "cancelled", detail: "cancelled by the caller" };
  if (chance(seed, 20, turn, call) < 0.25) return { kind: "not-found", detail: "no such model" };
  const lines = summarySections.map(({ heading }) => `## ${heading}\n- About ${turn}.${call}.`);
  return say([{ type: "text", text: lines.join("\n") }]);
}

function toSent(outcome: Reply | ProviderFailure): Awaited<ReturnType<Provider["send"]>> {
  const about = { startMs: 0, endMs: 0, firstByteMs: 0, status: 200, requestId: null };
  return { outcome, attempts: [], headers: {}, ...about };
}
