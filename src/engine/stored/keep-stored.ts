// Keeps the beginning of a session's prompt at the provider under a name, while that pays: made, extended, given up, never left.
import { randomUUID } from "node:crypto";
import { marginMs } from "../../core/cache/stored-prefix.ts";
import type { ResourceRecord } from "../../core/ledger/resource-record.ts";
import { whyNoPrefix, type HeldPrefix } from "../../core/session/held-prefix.ts";
import type { Session } from "../../core/session/session.ts";
import { messageOf } from "../../core/strata-error.ts";
import { nextStoring } from "../../core/turn/next-storing.ts";
import { findRecorded } from "../session/engine-config.ts";
import type { EngineContext, Reached } from "../session/engine-deps.ts";
import { finishResource, type ResourceDeps } from "./finish-resource.ts";
import { extendPrefix, makePrefix, type PrefixToMake } from "./make-prefix.ts";
import { whyNotPaid } from "./storing-budget.ts";

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

/** After a creation that failed, for so long no other is tried. */
const restMs = 600_000;
const resting = "the last one could not be made, so none is tried for a while";

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
  /** What calls of the running turn begin with. It is deleted when no call may be under way. */
  readonly #lent = new Set<string>();
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
    if (isSame && whyNoPrefix(session) === null) {
      this.#lent.add(held.id);
      return held;
    }
    // The call before is over.
    this.#lent.delete(held.id);
    this.#giveUp("the prompt begins differently now");
    return null;
  }

  lost(id: string, detail: string): void {
    this.#lent.delete(id);
    if (this.#held?.id !== id) return;
    this.#giveUp(`the provider did not have it any more: ${detail}`);
    this.#context.deps.onNotice?.(
      `a stored prefix was gone, and the call was sent whole: ${detail}`,
    );
  }

  /** After a turn: decides what becomes of it. Never fails: a turn must not fail for that. */
  schedule(): void {
    this.#lent.clear();
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
    const isResting = decision.do === "create" && nowMs < this.#restsUntilMs;
    const { ledger, events } = this.#context.deps;
    const paying = { ledger, events, config, usdPerHour: storedPrefix.usdPerHour, nowMs };
    const refusal = isResting ? resting : await whyNotPaid(decision, session, paying);
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
        await this.#create(session, { prefix: decision.prefix, assembly });
        if (before !== null && this.#held !== before) await this.#finish(before.id);
      }
    }
  }

  async #create(session: Session, asked: PrefixToMake): Promise<void> {
    const deps = this.#resourceDeps(session, this.#owner.reached);
    if (deps === null) return;
    const id = randomUUID();
    this.#made.add(id);
    this.#restsUntilMs = this.#now() + restMs;
    const made = await makePrefix(session, { ...asked, id }, deps);
    if ("reason" in made) {
      this.#reason = `the provider did not store it: ${made.reason}`;
      return this.#finish(id);
    }
    this.#restsUntilMs = 0;
    this.#held = made;
    if (this.#isClosed) return this.#giveUp("the session is closed");
    this.#lookAgain(made.expiresMs - marginMs);
  }

  async #extend(held: HeldPrefix): Promise<void> {
    const { session, reached } = this.#owner;
    const deps = this.#resourceDeps(session, reached);
    if (deps === null) return;
    const longer = await extendPrefix(held, deps);
    if ("reason" in longer) {
      return this.#giveUp(`the provider did not keep it longer: ${longer.reason}`);
    }
    if (this.#held === held) this.#held = longer;
    this.#lookAgain(longer.expiresMs - marginMs);
  }

  #lookAgain(atMs: number): void {
    const { after = afterOnMachine } = this.#context.deps;
    this.#cancel();
    this.#cancel = after(Math.max(0, atMs - this.#now()), () => this.#add(() => this.#decide()));
  }

  /** Deletes it at the provider. What cannot be reached stays in the ledger, for the next start. */
  async #finish(id: string): Promise<void> {
    if (this.#lent.has(id) && !this.#isClosed) return;
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

/** Does not keep the process alive. */
function afterOnMachine(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}
