// The hosts behind the router: which of them serve a model, what they keep, and what they charge.
import { builtInCatalogue } from "../../core/models/catalogue.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import * as read from "../../core/models/read-fields.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { Keeping } from "../billing/billable-request.ts";
import { parseKeeping } from "../vendors/vendor-row.ts";
import hostsFile from "./data/hosts.json" with { type: "json" };

interface HostFacts {
  /** Idle time after which a conversation's host is forgotten. */
  readonly stickySeconds: number;
  /** The share of requests that leave the host of their conversation. */
  readonly leavesSticky: number;
  /** The share of requests that the host which they ask for first does not take. */
  readonly passesOver: number;
  /** What hosts keep of models without markers. */
  readonly assumed: Keeping;
  /** By the provider of a model. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Providers whose models get all system text at the start. */
  readonly systemFirst: readonly string[];
}

export const hostFacts: HostFacts = parseHosts(hostsFile, "hosts.json");

export interface RoutedModel {
  /** With the prices that its hosts charge. */
  readonly facts: ModelFacts;
  readonly hosts: readonly string[];
  readonly keeping: Keeping | null;
}

/** A model by the router's name for it, AUTHOR/SLUG. Null for names whose price we do not know. */
export function findRoutedModel(name: string): RoutedModel | null {
  const found = name.includes("/") ? findModel(`${route}/${name}`) : null;
  if (found === null || found.route !== route || found.matched === "any name") return null;
  return toRouted(found.facts);
}

export function listRoutedModels(): readonly RoutedModel[] {
  const { ids, routesOf, factsOf } = builtInCatalogue;
  return ids
    .filter((id) => routesOf(id).includes(route))
    .map((id) => factsOf(id, { route }))
    .filter(({ lifecycle }) => lifecycle.status !== "retired")
    .flatMap((facts) => toRouted(facts) ?? []);
}

const route = "openrouter";

/** Hosts of open weights set their own prices, which are not published in one place: those of the vendor itself are taken. */
function toRouted(facts: ModelFacts): RoutedModel | null {
  const { id, provider, cache } = facts;
  const own = facts.prices.kind === "priced" ? facts.prices : builtInCatalogue.factsOf(id).prices;
  const hosts = hostFacts.hosts.get(provider);
  if (own.kind === "unpriced" || hosts === undefined) return null;
  const { automatic, minimumTokens } = cache;
  const isOpen =
    automatic !== null && !automatic.takesMarkerSlot && automatic.boundary !== "every step";
  return {
    facts: { ...facts, prices: own },
    hosts,
    keeping: isOpen ? { ...hostFacts.assumed, minimumTokens: minimumTokens ?? 1 } : null,
  };
}

function parseHosts(value: unknown, file: string): HostFacts {
  const { hosts, ...rest } = read.shape(value, file, {
    source: read.text,
    checkedOn: read.day,
    stickySeconds: read.count,
    leavesSticky: read.multiplier,
    passesOver: read.multiplier,
    assumed: parseKeeping,
    hosts: read.record,
    systemFirst: read.listOf(read.text),
    note: read.text,
  });
  const lists = Object.entries(hosts).map(
    ([provider, list]) => [provider, read.list(list, `${file}: ${provider}`, read.text)] as const,
  );
  return { ...rest, hosts: new Map(lists) };
}
