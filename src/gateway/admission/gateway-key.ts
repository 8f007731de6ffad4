// The gateway's own keys: what clients send in place of an upstream's key, and what each of them may do.
import { hash, randomBytes } from "node:crypto";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { StrataError } from "../../core/strata-error.ts";
import { factsOf } from "../observe/rewriting.ts";

export interface GatewayKey {
  /** For people and for the ledger. */
  readonly name: string;
  /** The SHA-256 of the key in hexadecimal digits. */
  readonly sha256: string;
  readonly user?: string | null;
  readonly team?: string | null;
  /** The models it may call, in any spelling; empty for all. */
  readonly models?: readonly string[];
  /** The names of the upstreams it may use; empty for all. */
  readonly upstreams?: readonly string[];
  /** Whether what is no model call passes, too: files, batches, stored answers. False by default. */
  readonly otherRequests?: boolean;
  /** In pico-dollars. */
  readonly budget?: KeyBudget;
  readonly rate?: KeyRate;
}

/** Absent or null for no limit. Days and months begin at midnight UTC. */
export type KeyBudget = Partial<Readonly<Record<BudgetSpan, bigint | null>>>;

export const budgetSpans = ["day", "month", "total"] as const;

export type BudgetSpan = (typeof budgetSpans)[number];

/** Absent or null for no limit. */
export interface KeyRate {
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrent?: number | null;
}

/** Who may come in, and what is sent upstream for them. */
export interface GatewayKeys {
  readonly keys: readonly GatewayKey[];
  /** The upstreams' own keys by name. Never shown. */
  readonly upstreamKeys: ReadonlyMap<string, string>;
}

/** What the gateway stores of a key: its SHA-256 in hexadecimal digits. */
export function hashKey(key: string): string {
  return hash("sha256", key, "hex");
}

/** A random key whose form shows what it is. */
export function newGatewayKey(): string {
  return `sk-strata-${randomBytes(32).toString("base64url")}`;
}

/** By hash. Comparing hashes by a lookup takes a time that says nothing about any key. */
export function indexKeys(keys: readonly GatewayKey[]): ReadonlyMap<string, GatewayKey> {
  const byHash = new Map<string, GatewayKey>();
  const names = new Set<string>();
  for (const key of keys) {
    const sha256 = key.sha256.toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      throw invalid(`the key ${key.name} has no SHA-256`, "give 64 hexadecimal digits");
    }
    const other = byHash.get(sha256);
    if (other !== undefined || names.has(key.name)) {
      throw invalid(
        `the keys ${other?.name ?? key.name} and ${key.name} are the same`,
        "give each client a key and a name of its own",
      );
    }
    byHash.set(sha256, key);
    names.add(key.name);
  }
  return byHash;
}

/** Whether its calls must be read before they are sent. */
export function readsBodies({ models = [], budget = {}, rate = {} }: GatewayKey): boolean {
  return models.length > 0 || hasBudget({ budget }) || (rate.tokensPerMinute ?? null) !== null;
}

export function hasBudget({ budget = {} }: Pick<GatewayKey, "budget">): boolean {
  return budgetSpans.some((span) => (budget[span] ?? null) !== null);
}

/** Two spellings of one model are the same, and a name that we do not know is only itself. */
export interface ModelList {
  allows(model: string, upstream: string): boolean;
}

/** An empty list allows all. */
export function createModelList(names: readonly string[], catalogue: Catalogue): ModelList {
  const spellings = new Set(names.map((name) => name.toLowerCase()));
  const ids = new Set(names.flatMap((name) => findModel(name, catalogue)?.facts.id ?? []));
  return {
    allows: (model, upstream) => {
      if (names.length === 0 || spellings.has(model.toLowerCase())) return true;
      const facts = factsOf(model, upstream, catalogue);
      return facts !== null && ids.has(facts.id);
    },
  };
}

function invalid(message: string, hint: string): StrataError {
  return new StrataError("config-invalid", message, hint);
}
