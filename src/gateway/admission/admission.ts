// Decides what a request with one of the gateway's keys may do, and follows what it costs.
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { builtInCatalogue, type Catalogue } from "../../core/models/catalogue.ts";
import { generatedTokens, promptTokens } from "../../core/message/usage.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import { vendors } from "../../core/wire/protocols.ts";
import type { ForwardedEnd } from "../forward/forward-exchange.ts";
import { flatHeaders } from "../forward/pass-headers.ts";
import { factsOf } from "../observe/rewriting.ts";
import type { ObservedCall } from "../observed-call.ts";
import type { SpendingReader } from "../record/open-recorder.ts";
import type { Target } from "../upstreams/upstream-table.ts";
import * as deny from "./deny.ts";
import { estimateCall, guessPromptTokens } from "./estimate.ts";
import { credentialHeaders, findKey, withoutQueryKeys } from "./find-key.ts";
import {
  budgetSpans,
  hasBudget,
  indexKeys,
  readsBodies,
  type GatewayKey,
  type GatewayKeys,
  createModelList,
  type ModelList,
} from "./gateway-key.ts";
import { createBodyShelf, type BodyShelf } from "./hold-body.ts";
import { createRateGauge, type RateGauge } from "./rate-gauge.ts";
import { readAsked } from "./read-asked.ts";
import { kindOfRequest, type RequestKind } from "./request-kind.ts";
import { createSpendingBook } from "./spending-book.ts";

export interface Admission {
  /** Whether every request needs a key. */
  isNeeded(): boolean;
  find(incoming: IncomingMessage): GatewayKey | null;
  /** What is known from a request's head. A pass must be ended. */
  admit(id: string, key: GatewayKey, asked: AskedToPass): Pass | deny.Denial;
  /** The call with the names of its key. Settles what it cost. */
  name(call: ObservedCall): ObservedCall;
  readonly spending: SpendingReader;
  /** Whether it is known what keys with a budget have spent, or no key has one. Waits so long for it. */
  isReadIn(ms: number): Promise<boolean>;
  /** What a key has spent, for itself. */
  stateOf(key: GatewayKey): object;
  use(keys: GatewayKeys): void;
}

export interface AskedToPass {
  readonly incoming: IncomingMessage;
  readonly target: Target;
  readonly isWebSocket: boolean;
}

export interface Pass {
  /** With the upstream's key in place of the client's. */
  readonly target: Target;
  /** Stands for the key: conversations of two keys never meet. */
  readonly account: string;
  /** Reads the body and judges it; null if it need not be read. Without `onWhole` the pass has ended. */
  readonly read: ((handle: BodyHandlers) => void) | null;
  end(end: Pick<ForwardedEnd, "how" | "status">, isWatched: boolean): void;
}

/** One of them is called, once. */
export interface BodyHandlers {
  onWhole(body: readonly Buffer[]): void;
  onDenied(denial: deny.Denial): void;
  /** The client left first. */
  onLeft(): void;
}

export interface AdmissionOptions {
  readonly keys: GatewayKeys;
  /** A longer body of a key with limits is refused. */
  readonly bodyBytesMax: number;
  readonly catalogue?: Catalogue;
  readonly nowMs?: () => number;
  /** A clock that is never set. */
  readonly steadyMs?: () => number;
}

export function createAdmission(options: AdmissionOptions): Admission {
  return new KeyAdmission(options);
}

interface CallToJudge {
  readonly pieces: readonly Buffer[];
  readonly protocol: Protocol;
}

interface KnownKey {
  readonly key: GatewayKey;
  readonly models: ModelList;
}

class KeyAdmission implements Admission {
  readonly #options: Required<Omit<AdmissionOptions, "keys">>;
  readonly #book: ReturnType<typeof createSpendingBook>;
  readonly #firstRead = Promise.withResolvers<void>();
  readonly #shelf: BodyShelf;
  readonly #gauges = new Map<string, RateGauge>();
  #keys: ReadonlyMap<string, GatewayKey> = new Map();
  #byAccount: ReadonlyMap<string, KnownKey> = new Map();
  #upstreamKeys: ReadonlyMap<string, string> = new Map();
  readonly spending: SpendingReader;

  constructor(options: AdmissionOptions) {
    this.#options = {
      catalogue: builtInCatalogue,
      nowMs: Date.now,
      steadyMs: () => performance.now(),
      ...options,
    };
    this.#book = createSpendingBook(this.#options.nowMs);
    this.#shelf = createBodyShelf(options.bodyBytesMax);
    this.spending = {
      since: () => (this.#countsMoney() ? this.#book.since() : null),
      onRead: (...read) => {
        this.#book.onRead(...read);
        this.#firstRead.resolve();
      },
    };
    this.use(options.keys);
  }

  use({ keys, upstreamKeys }: GatewayKeys): void {
    this.#keys = indexKeys(keys);
    const { catalogue } = this.#options;
    const known = keys.map((key): [string, KnownKey] => [
      accountOf(key),
      { key, models: createModelList(key.models ?? [], catalogue) },
    ]);
    // Calls of a key that is gone may still be open.
    this.#byAccount = new Map([...this.#byAccount, ...known]);
    this.#upstreamKeys = upstreamKeys;
  }

  async isReadIn(ms: number): Promise<boolean> {
    if (!this.#countsMoney()) return true;
    const waiting = new AbortController();
    const late = setTimeout(ms, false, { signal: waiting.signal }).catch(() => false);
    const isRead = await Promise.race([this.#firstRead.promise.then(() => true), late]);
    waiting.abort();
    return isRead;
  }

  isNeeded(): boolean {
    return this.#keys.size > 0;
  }

  find(incoming: IncomingMessage): GatewayKey | null {
    return findKey(incoming, this.#keys);
  }

  admit(id: string, key: GatewayKey, asked: AskedToPass): Pass | deny.Denial {
    const { target, incoming } = asked;
    const kind = kindOfRequest({
      method: incoming.method ?? "GET",
      path: target.path,
      headers: flatHeaders(incoming.headers),
    });
    const denial = this.#refuseHead(key, asked, kind);
    if (denial !== null) return denial;
    const gauge = this.#gaugeOf(key);
    gauge.begin(key.rate ?? {});
    let release = (): void => gauge.end();
    const close = (): void => {
      release();
      release = () => {};
    };
    const read = (protocol: Protocol, handle: BodyHandlers): void => {
      const held = this.#shelf.hold(incoming, (body) => {
        if (body.kind === "whole") {
          const judged = this.#judgeCall(id, key, { ...asked, protocol, pieces: body.pieces });
          if (judged === null) return handle.onWhole(body.pieces);
          close();
          return handle.onDenied(judged);
        }
        close();
        if (body.kind === "client left") handle.onLeft();
        else handle.onDenied(this.#refuseBody(key, body.kind));
      });
      const endGauge = release;
      release = () => {
        held.release();
        endGauge();
      };
    };
    return {
      target: this.#withUpstreamKey(target),
      account: accountOf(key),
      read:
        kind.kind === "call" && readsBodies(key) ? (handle) => read(kind.protocol, handle) : null,
      end: (end, isWatched) => {
        close();
        if (!hasBudget(key)) return;
        this.#book.end(id, key.name, { isBilled: mayBeBilled(end), isWatched });
      },
    };
  }

  #refuseBody(key: GatewayKey, kind: "too large" | "busy"): deny.Denial {
    if (kind === "busy") return deny.tooManyBodies;
    return deny.bodyTooLarge(key, this.#options.bodyBytesMax);
  }

  #refuseHead(
    key: GatewayKey,
    { target, isWebSocket }: AskedToPass,
    { kind }: RequestKind,
  ): deny.Denial | null {
    const { upstream } = target;
    const { upstreams = [], otherRequests = false } = key;
    if (upstreams.length > 0 && !upstreams.includes(upstream)) {
      return deny.notAllowed(key, `use ${upstream}`);
    }
    if (kind === "unclear") {
      return deny.notAllowed(key, "send a path that servers could read in two ways");
    }
    // What passes through a WebSocket is not read.
    if (isWebSocket && readsBodies(key)) {
      return deny.notAllowed(key, "use a WebSocket, because it has limits; use HTTP");
    }
    if (kind === "other" && !otherRequests && !isWebSocket) {
      return deny.notAllowed(
        key,
        "send this: it is no model call, count of tokens or list of models",
      );
    }
    if (needsKey(target) && !this.#upstreamKeys.has(upstream)) return deny.noUpstreamKey(upstream);
    const limit = this.#gaugeOf(key).findLimit(key.rate ?? {});
    return limit === null ? null : deny.tooMuch(key, limit.limit, limit.retryAfterSeconds);
  }

  #judgeCall(
    id: string,
    key: GatewayKey,
    { pieces, protocol, target, incoming }: AskedToPass & CallToJudge,
  ): deny.Denial | null {
    const { bodyBytesMax, catalogue, nowMs } = this.#options;
    const address = { path: target.path, headers: flatHeaders(incoming.headers) };
    const asked = readAsked({ pieces, address, protocol, bodyBytesMax });
    if (asked === null) return deny.unreadBody(key);
    const models = this.#byAccount.get(accountOf(key))?.models;
    const foreign = [asked.model, ...asked.otherModels].find(
      (model) => models?.allows(model, target.upstream) === false,
    );
    if (foreign !== undefined)
      return deny.notAllowed(key, `call ${JSON.stringify(foreign.slice(0, 100))}`);
    const now = nowMs();
    const estimate = estimateCall(asked, target.upstream, { catalogue, nowMs: now });
    if (hasBudget(key)) {
      if (estimate.picoUsd === null) {
        return deny.notAllowed(key, "call a model without a known price, because it has a budget");
      }
      for (const span of budgetSpans) {
        const budget = key.budget?.[span] ?? null;
        const spent = this.#book.spent(key.name, span);
        if (budget === null || spent + estimate.picoUsd <= budget) continue;
        return deny.overBudget(key, { span, budget, spent, asked: estimate.picoUsd }, now);
      }
      this.#book.reserve(id, key.name, estimate.picoUsd);
    }
    this.#gaugeOf(key).use(estimate.promptTokens, key.rate ?? {});
    return null;
  }

  name(call: ObservedCall): ObservedCall {
    const key = this.#byAccount.get(call.account)?.key;
    if (key === undefined) return call;
    if (hasBudget(key)) this.#book.settle(call.id, key.name, call.costPicoUsd);
    this.#useTokens(key, call);
    return { ...call, gatewayKey: key.name, user: key.user ?? null, team: key.team ?? null };
  }

  /** In place of the estimate. */
  #useTokens(key: GatewayKey, { usage, model, upstream, requestBytes }: ObservedCall): void {
    const { rate = {} } = key;
    if (usage === null || (rate.tokensPerMinute ?? null) === null) return;
    const facts = factsOf(model, upstream, this.#options.catalogue);
    const used = promptTokens(usage) + generatedTokens(usage);
    this.#gaugeOf(key).use(used - guessPromptTokens(requestBytes, facts), rate);
  }

  stateOf({ name, budget = {} }: GatewayKey): object {
    const spans = budgetSpans.filter((span) => (budget[span] ?? null) !== null);
    const spent = spans.map((span) => [span, formatUsd(this.#book.spent(name, span))]);
    return { name, ...(spans.length === 0 ? {} : { spent: Object.fromEntries(spent) }) };
  }

  #gaugeOf({ name }: GatewayKey): RateGauge {
    const gauge = this.#gauges.get(name) ?? createRateGauge(this.#options.steadyMs);
    this.#gauges.set(name, gauge);
    return gauge;
  }

  #withUpstreamKey(target: Target): Target {
    const key = this.#upstreamKeys.get(target.upstream);
    const { name, prefix } = target.keyHeader;
    const added = key === undefined || hasHeader(target, name) ? [] : [name, `${prefix}${key}`];
    const { sign, without = [], ...rest } = target;
    return {
      ...rest,
      path: withoutQueryKeys(target.path),
      headers: [...target.headers, ...added],
      without: new Set([...credentialHeaders, ...without]),
      // Where a key is held, nothing is signed.
      ...(sign === undefined || key !== undefined ? {} : { sign }),
    };
  }

  #countsMoney(): boolean {
    return [...this.#keys.values()].some(hasBudget);
  }
}

/** A hash that no credentials have. */
function accountOf({ name }: GatewayKey): string {
  return hash("sha256", `a key of the gateway\n${name}`, "hex");
}

/** A vendor takes nothing without one, but for clouds, which sign. */
function needsKey(target: Target): boolean {
  const vendor = vendors.find(({ name }) => name === target.upstream);
  if (vendor === undefined || vendor.listed?.cloud != null) return false;
  if (vendor.listed?.isLocal === true) return false;
  return !hasHeader(target, target.keyHeader.name);
}

function hasHeader({ headers }: Target, name: string): boolean {
  return headers.some((each, at) => at % 2 === 0 && each.toLowerCase() === name);
}

/** A call may be billed although its client left. */
function mayBeBilled({ how, status }: Pick<ForwardedEnd, "how" | "status">): boolean {
  return how !== "no answer" && (status === null || status < 400);
}
