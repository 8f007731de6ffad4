// Keeps a waiting session's cache warm: a timer before the prefix expires, a budget for every hour, one refresh at a time.
import type { Ledger } from "../../core/ledger/ledger.ts";
import { planRefresh } from "../../core/cache/plan-warm.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import type { Session } from "../../core/session/session.ts";
import { messageOf } from "../../core/strata-error.ts";
import { nextRefresh, type NextRefresh } from "../../core/turn/next-refresh.ts";
import type { EngineConfig } from "../session/engine-config.ts";
import type { EngineContext, Reached } from "../session/engine-deps.ts";
import { createSpendingGuard } from "../session/spending.ts";
import { sendWarm, type WarmOutcome } from "./send-warm.ts";

/** When the next refresh is due, and why; or why there is none. */
export interface WarmStatus {
  /** Milliseconds since 1970; null if none is due. */
  readonly atMs: number | null;
  readonly reason: string;
}

/** The session as its owner has it. */
export interface WaitingSession {
  readonly session: Session;
  readonly reached: Reached;
  /** Whether a turn or a change runs. */
  readonly isBusy: boolean;
  /** Takes the session after a refresh, unless other work began meanwhile. */
  refreshed(before: Session, after: Session): void;
}

const hourMs = 3_600_000;

export class WarmKeeper {
  readonly #context: EngineContext;
  readonly #owner: WaitingSession;
  readonly #closing = new AbortController();
  #status: WarmStatus = { atMs: null, reason: "no turn has ended yet" };
  #cancel: () => void = () => {};
  #scheduling: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();

  constructor(context: EngineContext, owner: WaitingSession) {
    this.#context = context;
    this.#owner = owner;
  }

  get status(): WarmStatus {
    return this.#status;
  }

  /** After a turn: sets the timer for the next refresh. Never fails: a turn must not fail for that. */
  schedule(): void {
    this.#scheduling = this.#setTimer().catch((error: unknown) =>
      this.#pause(`the next refresh could not be planned: ${messageOf(error)}`),
    );
  }

  async #setTimer(): Promise<void> {
    this.#cancel();
    const { keepWarm } = await this.#context.readConfig();
    if (this.#closing.signal.aborted) return;
    if (keepWarm === undefined) return this.#pause("keeping sessions warm is off");
    const next = nextRefresh(this.#owner.session, this.#now());
    if (next.decision === null) return this.#pause(next.reason);
    const { pays, atMs, reason } = next.decision;
    if (!pays) return this.#pause(reason);
    this.#status = { atMs, reason };
    const { after = afterOnMachine } = this.#context.deps;
    this.#cancel = after(Math.max(0, atMs - this.#now()), () => this.#fire());
  }

  /** Ends a running refresh as soon as possible. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the session is closed"));
    this.#cancel();
    await Promise.all([this.#scheduling, this.#running]);
  }

  #fire(): void {
    void oneAtATime(this.#context.deps.ledger, () => {
      if (this.#closing.signal.aborted) return Promise.resolve();
      this.#running = this.#refresh().catch((error: unknown) =>
        this.#pause(`the last refresh failed: ${messageOf(error)}`),
      );
      return this.#running;
    });
  }

  async #refresh(): Promise<void> {
    const { session } = this.#owner;
    const config = await this.#context.readConfig();
    const { keepWarm } = config;
    const next = nextRefresh(session, this.#now());
    if (keepWarm === undefined || next.decision === null || !next.decision.pays) return;
    const refusal = await this.#overBudget(next, keepWarm);
    // The end of a turn that began meanwhile sets the timer again.
    if (this.#closing.signal.aborted || this.#isOvertaken(session)) return;
    if (refusal !== null) return this.#pause(refusal);
    const outcome = await this.#send(session, next, config);
    if (!outcome.isSent) {
      if (!this.#isOvertaken(session)) this.#pause(outcome.reason);
      return;
    }
    this.#owner.refreshed(session, outcome.session);
    if (!this.#isOvertaken(outcome.session)) await this.#setTimer();
  }

  #isOvertaken(session: Session): boolean {
    return this.#owner.isBusy || this.#owner.session !== session;
  }

  /** Even a refresh that the provider must write again stays within the budget. */
  async #overBudget(
    { decision }: NextRefresh,
    { usdPerHour }: KeepWarmConfig,
  ): Promise<string | null> {
    const spent = await this.#context.deps.ledger.sumLoneCalls("warm", this.#now() - hourMs);
    const budget = BigInt(Math.floor(usdPerHour * 1e12));
    const { costPicoUsdMax: most } = decision;
    if (spent + most <= budget) return null;
    return `a refresh may cost ${formatUsdRounded(most, 4)}, and of ${formatUsdRounded(budget, 4)} for an hour ${formatUsdRounded(spent, 4)} is spent`;
  }

  #send(session: Session, next: NextRefresh, config: EngineConfig): Promise<WarmOutcome> {
    const { assembly, options, kept: before } = next;
    const { deps } = this.#context;
    const { blocks } = assembly;
    const { model: rules, cache: state } = session;
    const plan = planRefresh(next.plan, { blocks, rules, state, now: this.#now() });
    const request = { purpose: "keep_warm" as const, blocks, plan, before, assembly, options };
    // A turn may begin beside it.
    const key = Symbol("refresh");
    return sendWarm(session, request, {
      provider: this.#owner.reached.provider,
      ledger: deps.ledger,
      ...(deps.events && { events: deps.events }),
      now: () => this.#now(),
      spending: createSpendingGuard(session, deps.ledger, () => config, key),
      signal: this.#closing.signal,
    });
  }

  #pause(reason: string): void {
    this.#status = { atMs: null, reason };
  }

  #now(): number {
    return (this.#context.deps.now ?? Date.now)();
  }
}

type KeepWarmConfig = NonNullable<EngineConfig["keepWarm"]>;

/** Does not keep the process alive. */
function afterOnMachine(delayMs: number, run: () => void): () => void {
  const timer = setTimeout(run, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

/** Refreshes on one ledger share a budget: each sees what the one before cost. The work must not fail. */
function oneAtATime(ledger: Ledger, work: () => Promise<void>): Promise<void> {
  const done = (running.get(ledger) ?? Promise.resolve()).then(work);
  running.set(ledger, done);
  return done;
}

const running = new WeakMap<Ledger, Promise<void>>();
