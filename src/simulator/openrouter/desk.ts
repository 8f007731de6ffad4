// Where the router keeps accounts: a host for each conversation, and the credit of each key.
import { toPicoUsd } from "../../core/models/pico-usd.ts";
import { ratesAt } from "../../core/models/prices.ts";
import type { CallRecord, HttpFault, SurfaceContext } from "../surface.ts";
import { createRouter, type HostWish, type RouterOptions } from "./choose-host.ts";
import { noCredit, noHost, ofHost, type RouterRefusal } from "./errors.ts";
import type { RoutedModel } from "./hosts.ts";

export interface OpenrouterOptions extends RouterOptions {
  /** What each key has to spend; null for no end. */
  readonly creditUsd: number | null;
}

export interface Served {
  readonly model: RoutedModel;
  readonly wish: HostWish;
  readonly host: string;
  readonly record: CallRecord;
  readonly picoUsd: bigint;
}

export interface Desk {
  /** The first host that answers, or the router's error. */
  findHost(
    model: RoutedModel,
    wish: HostWish,
    context: SurfaceContext,
  ): { readonly host: string } | { readonly refusal: RouterRefusal };
  settle(served: Served, context: SurfaceContext): void;
}

export function createDesk(options: OpenrouterOptions): Desk {
  const router = createRouter(options);
  const credit = options.creditUsd === null ? null : toPicoUsd(options.creditUsd);
  const spent = new Map<string, bigint>();
  return {
    findHost: ({ hosts }, wish, context) => {
      const isSpent = credit !== null && (spent.get(context.workspace) ?? 0n) >= credit;
      if (isSpent) return { refusal: noCredit };
      const choice = router.choose(hosts, wish, context.nowMs);
      if (choice.hosts.length === 0) return { refusal: noneAllowed(hosts, wish) };
      let last: { readonly fault: HttpFault; readonly host: string } | null = null;
      for (const host of wish.allowsFallbacks ? choice.hosts : choice.hosts.slice(0, 1)) {
        const fault = context.faultAt(host);
        if (fault === null) return { host };
        last = { fault, host };
      }
      if (last === null) return { refusal: { status: 503, message: noHost } };
      return { refusal: ofHost(last.fault, last.host) };
    },
    settle: ({ model, wish, host, record, picoUsd }, { workspace, nowMs }) => {
      const { readTokens, writeTokens } = record.bill;
      const usedCache = readTokens > 0 || Object.keys(writeTokens).length > 0;
      router.settle(wish, host, usedCache && isCheaperToRead(model, nowMs), nowMs);
      spent.set(workspace, (spent.get(workspace) ?? 0n) + picoUsd);
    },
  };
}

function noneAllowed(hosts: readonly string[], { only, order }: HostWish): RouterRefusal {
  const message = "No allowed providers are available for the selected model.";
  const metadata = { available_providers: hosts, requested_providers: only ?? order };
  return { status: 404, message, metadata };
}

/** There is nothing to stay for where a read costs as much as a prompt. */
function isCheaperToRead({ facts }: RoutedModel, nowMs: number): boolean {
  const { prices } = facts;
  const applied = prices.kind === "priced" ? ratesAt(prices.rows, nowMs, 0) : null;
  if (applied === null) return false;
  const { inputPicoUsd, readPicoUsd } = applied.rates;
  return readPicoUsd !== null && readPicoUsd < inputPicoUsd;
}
