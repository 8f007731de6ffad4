// Keeps the beginning of a session's prompt at the provider under a name, while that pays: made, extended, given up, never left.
import { randomUUID } from "node:crypto";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { storageCost } from "../../core/models/stored-rules.ts";
import { storedSeconds, type StoringDecision } from "../../core/cache/stored-prefix.ts";
import type { Assembly } from "../../core/assembly/assemble.ts";
import { noPlan } from "../../core/cache/cache-plan.ts";
import type { ResourceRecord } from "../../core/ledger/resource-record.ts";
import { whyNoPrefix, type HeldPrefix } from "../../core/session/held-prefix.ts";
import type { Session } from "../../core/session/session.ts";
import { messageOf } from "../../core/strata-error.ts";
import { nextStoring } from "../../core/turn/next-storing.ts";
import type { ProviderFailure } from "../../core/wire/failure.ts";
import { createTurnEmitter } from "../events/turn-emitter.ts";
import { findRecorded, type EngineConfig } from "../session/engine-config.ts";
import type { EngineContext, Reached } from "../session/engine-deps.ts";
import { createSpendingGuard, refuseOverCap } from "../session/spending.ts";
import {
  askProvider,
  finishResource,
  labelOf,
  recordMade,
  type ResourceDeps,
} from "./finish-resource.ts";

/** What the provider keeps, and why, or why not. */
export interface StoredStatus {
  /** Null for nothing. */
  readonly tokens: number | null;
  /** When the provider drops it, unless it is extended; milliseconds since 1970. */
  readonly expiresMs: number | null;
  readonly reason: string;
}

/** The session as its owner has it. */
export interface StoringSession {
  readonly session: Session;
  readonly reached: Reached;
}

/** What calls of a session ask of its stored prefix. */
export interface HeldPrefixes {
  /** Asked before every call. Null if it has none, or begins differently now. */
  readonly current: (session: Session) => HeldPrefix | null;
  /** The provider does not have it any more. */
  readonly lost: (id: string, detail: string) => void;
}

type Storing = NonNullable<EngineConfig["storedPrefix"]>;

const hourMs = 3_600_000;
/** After a creation that failed, for so long no other is tried. */
const restMs = 600_000;

export class StoredKeeper implements HeldPrefixes {
  readonly #context: EngineContext;
  readonly #owner: StoringSession;
  #held: HeldPrefix | null = null;
  /** The parts of a turn that are over, one at a time. */
  #work: Promise<void> = Promise.resolve();
  #cancel: () => void = () => {};
  #isClosed = false;
  #hasLooked = false;
  /** What this process made and what is not certainly gone. */
  readonly #made = new Set<string>();
  #restsUntilMs = 0;
  #reason = "no turn has ended yet";

  constructor(context: EngineContext, owner: StoringSession) {
    this.#context = context;
    this.#owner = owner;
  }

  get status(): StoredStatus {
    const { tokens = null, expiresMs = null } = this.#held ?? {};
    return { tokens, expiresMs, reason: this.#reason };
  }

  current(session: Session): HeldPrefix | null {
    const held = this.#held;
    if (held === null) return null;
    const { foundation, blocks } = session.thread;
    const at = held.blocks - 1 - foundation.blocks.length;
    const block = at < 0 ? foundation.blocks.at(held.blocks - 1) : blocks.at(at);
    const isSame = block?.key === held.key && held.modelName === session.modelName;
    if (isSame && whyNoPrefix(session) === null) return held;
    this.#giveUp("the prompt begins differently now");
    return null;
  }

  lost(id: string, detail: string): void {
    if (this.#held?.id !== id) return;
    this.#giveUp(`the provider did not have it any more: ${detail}`);
    this.#context.deps.onNotice?.(
      `a stored prefix was gone, and the call was sent whole: ${detail}`,
    );
  }

  /** After a turn: decides what becomes of it. Never fails: a turn must not fail for that. */
  schedule(): void {
    this.#add(() => this.#decide());
  }

  /** A closed session keeps nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    this.#giveUp("the session is closed");
    this.#add(() => this.#finishMade());
    // A creation that was under way adds its own deletion.
    for (let last: Promise<void> | null = null; last !== this.#work;) {
      last = this.#work;
      await last;
    }
  }

  #add(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#reason = `the stored prefix could not be looked after: ${messageOf(error)}`;
    });
  }

  /** No call begins with it from now on. */
  #giveUp(reason: string): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#cancel();
    this.#reason = reason;
    this.#add(() => this.#finish(held.id));
  }

  async #decide(): Promise<void> {
    this.#cancel();
    const config = await this.#context.readConfig();
    const { storedPrefix } = config;
    if (this.#isClosed) return;
    if (storedPrefix === undefined) {
      this.#reason = "storing prefixes is off";
      return this.#giveUp(this.#reason);
    }
    await this.#finishLeft();
    await this.#finishMade();
    if (await this.#isArchived()) return this.#giveUp("the session was archived or deleted");
    const { session } = this.#owner;
    const nowMs = this.#now();
    const held = this.#held;
    if (held !== null && nowMs >= held.expiresMs) return this.#giveUp("it has expired");
    const { decision, assembly } = nextStoring(session, held, nowMs);
    const refusal = await this.#whyNot(decision, session, config, storedPrefix);
    this.#reason = refusal ?? decision.reason;
    if (refusal !== null) return decision.do === "extend" ? this.#giveUp(refusal) : undefined;
    switch (decision.do) {
      case "none":
        return;
      case "delete":
        return this.#giveUp(decision.reason);
      case "keep":
        return this.#lookAgain(decision.atMs);
      case "extend":
        return held === null ? undefined : this.#extend(held);
      case "create": {
        if (assembly === null) return;
        const before = this.#held;
        await this.#create(session, decision, assembly);
        if (before !== null && this.#held !== before) await this.#finish(before.id);
      }
    }
  }

  /** Null if it may be paid. */
  async #whyNot(
    decision: StoringDecision,
    session: Session,
    config: EngineConfig,
    { usdPerHour }: Storing,
  ): Promise<string | null> {
    if (decision.do !== "create" && decision.do !== "extend") return null;
    const nowMs = this.#now();
    if (decision.do === "create" && nowMs < this.#restsUntilMs) {
      return "the last one could not be made, so none is tried for a while";
    }
    const { costPicoUsdMax: most } = decision;
    const budget = BigInt(Math.floor(usdPerHour * 1e12));
    const spent = await this.#spentInHour(session);
    if (spent + most > budget) {
      return `storing may cost ${formatUsdRounded(most, 4)}, and of ${formatUsdRounded(budget, 4)} for an hour ${formatUsdRounded(spent, 4)} is spent`;
    }
    if (decision.do !== "create") return null;
    const { ledger, events } = this.#context.deps;
    const guard = createSpendingGuard(session, ledger, () => config, Symbol("storing"));
    const about = { sessionId: session.id, turnId: null, chain: { current: null } };
    const emitter = createTurnEmitter(events, about);
    const expected = { ...noPlan.expected, uncachedTokens: decision.prefix.tokens };
    const call = { plan: { ...noPlan, expected }, outputTokensMax: 0, nowMs };
    const refused = await refuseOverCap(session, call, { guard, emitter });
    guard.settle();
    return refused?.detail ?? null;
  }

  /** What was booked, and what is being kept and not booked yet. */
  async #spentInHour({ model }: Session): Promise<bigint> {
    const { ledger } = this.#context.deps;
    const nowMs = this.#now();
    const booked = await ledger.sumLoneCalls("stored", nowMs - hourMs);
    const rules = model.cache.stored;
    const open = rules === null ? [] : await ledger.listResources();
    return open.reduce((sum, { tokens, createdMs, expiresMs }) => {
      const span = { tokens, fromMs: createdMs, toMs: Math.min(nowMs, expiresMs) };
      return sum + (rules === null ? 0n : (storageCost(span, rules) ?? 0n));
    }, booked);
  }

  async #create(
    session: Session,
    { prefix }: Extract<StoringDecision, { readonly do: "create" }>,
    assembly: Assembly,
  ): Promise<void> {
    const { ledger } = this.#context.deps;
    const deps = this.#resourceDeps(session, this.#owner.reached);
    const key = assembly.blocks.at(prefix.blocks - 1)?.key;
    if (deps === null || key === undefined) return;
    const { model, options, modelName, policy } = session;
    const createdMs = this.#now();
    const added = {
      id: randomUUID(),
      sessionId: session.id,
      kind: "stored prefix",
      provider: model.provider,
      model: modelName,
      tokens: prefix.tokens,
      createdMs,
      expiresMs: createdMs + storedSeconds * 1000,
    } as const;
    await ledger.addResource(added);
    this.#made.add(added.id);
    this.#restsUntilMs = createdMs + restMs;
    const { blocks } = prefix;
    const label = labelOf(added.id);
    const asked = { assembly, model, options, blocks, seconds: storedSeconds, label };
    const answer = await askProvider(deps.storing.encodeCreate(asked), deps);
    const stored = typeof answer === "string" ? deps.storing.decodeStored(answer) : null;
    const record: ResourceRecord = { ...added, ...creating };
    if (stored === null) {
      this.#reason = `the provider did not store it: ${typeof answer === "string" ? "its answer cannot be read" : answer.detail}`;
      const isRefused = typeof answer !== "string" && refusals.has(answer.kind);
      if (!isRefused) return this.#finish(added.id);
      this.#made.delete(added.id);
      await ledger.changeResource(added.id, { state: "gone", endedMs: this.#now() });
      return;
    }
    this.#restsUntilMs = 0;
    const about = { policy: policy.name, promptKey: key };
    const { name, tokens, ...made } = await recordMade(record, stored, deps, about);
    this.#held = {
      id: added.id,
      name: name ?? stored.name,
      blocks,
      tokens,
      modelName,
      key,
      createdMs: made.createdMs,
      expiresMs: made.expiresMs,
    };
    if (this.#isClosed) return this.#giveUp("the session is closed");
    this.#lookAgain(this.#held.expiresMs - lookBeforeMs);
  }

  /** The later end is recorded first: after a crash it is not taken for expired too early. */
  async #extend(held: HeldPrefix): Promise<void> {
    const { session, reached } = this.#owner;
    const { ledger } = this.#context.deps;
    const deps = this.#resourceDeps(session, reached);
    if (deps === null) return;
    const expiresMs = this.#now() + storedSeconds * 1000;
    await ledger.changeResource(held.id, { state: "live", expiresMs });
    const answer = await askProvider(deps.storing.encodeExtend(held.name, storedSeconds), deps);
    const stored = typeof answer === "string" ? deps.storing.decodeStored(answer) : null;
    if (stored === null) {
      const why = typeof answer === "string" ? "its answer cannot be read" : answer.detail;
      return this.#giveUp(`the provider did not keep it longer: ${why}`);
    }
    const until = stored.expiresMs ?? expiresMs;
    if (until !== expiresMs) {
      await ledger.changeResource(held.id, { state: "live", expiresMs: until });
    }
    if (this.#held === held) this.#held = { ...held, expiresMs: until };
    this.#lookAgain(until - lookBeforeMs);
  }

  #lookAgain(atMs: number): void {
    const { after = afterOnMachine } = this.#context.deps;
    this.#cancel();
    this.#cancel = after(Math.max(0, atMs - this.#now()), () => this.schedule());
  }

  /** Deletes it at the provider. What cannot be reached stays in the ledger, for the next start. */
  async #finish(id: string): Promise<void> {
    const { ledger } = this.#context.deps;
    const all = await ledger.listResources();
    const record = all.find((each) => each.id === id);
    if (record === undefined) return void this.#made.delete(id);
    const deps = await this.#depsOf(record);
    if (deps === null) return;
    const finished = await finishResource(record, deps);
    if (finished.isGone) return void this.#made.delete(id);
    this.#context.deps.onNotice?.(
      `a stored prefix could not be deleted, and expires by itself: ${finished.reason}`,
    );
  }

  /** What could not be finished before. */
  async #finishMade(): Promise<void> {
    for (const id of this.#made) if (id !== this.#held?.id) await this.#finish(id);
  }

  /** What processes left that have ended, and what has expired. Looked for once. */
  async #finishLeft(): Promise<void> {
    if (this.#hasLooked) return;
    this.#hasLooked = true;
    for (const record of await this.#context.deps.ledger.listResources()) {
      if (!record.isLeft && this.#now() < record.expiresMs + restMs) continue;
      const deps = await this.#depsOf(record);
      if (deps !== null) await finishResource(record, deps);
    }
  }

  async #isArchived(): Promise<boolean> {
    if (this.#held === null) return false;
    const record = await this.#context.deps.ledger.findSession(this.#owner.session.id);
    return record === null || record.status === "archived";
  }

  /** Null for a model that cannot be reached any more. */
  async #depsOf({ model: name }: ResourceRecord): Promise<ResourceDeps | null> {
    const { deps } = this.#context;
    try {
      const model = findRecorded({ model: name }, deps);
      return this.#resourceDeps({ model }, await deps.reach(model));
    } catch {
      return null;
    }
  }

  #resourceDeps(
    { model }: Pick<Session, "model">,
    { protocol, provider }: Reached,
  ): ResourceDeps | null {
    const { storing } = protocol;
    const { ledger } = this.#context.deps;
    return storing === undefined
      ? null
      : { ledger, provider, storing, model, now: () => this.#now() };
  }

  #now(): number {
    return (this.#context.deps.now ?? Date.now)();
  }
}

/** As in core/cache/stored-prefix.ts: an extension begins this long before the end. */
const lookBeforeMs = 60_000;

/** After these nothing was made. After any other failure the request may have arrived all the same. */
const refusals: ReadonlySet<ProviderFailure["kind"]> = new Set([
  "rate-limited",
  "context-overflow",
  "request-too-large",
  "invalid-request",
  "authentication",
  "permission",
  "billing",
  "not-found",
]);

const creating = {
  state: "creating",
  name: null,
  endedMs: null,
  costPicoUsd: null,
  isLeft: false,
} as const;

/** Does not keep the process alive. */
function afterOnMachine(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
