// The contents of strata.yaml in this run, and the kinds of changes, each to one key.
import { plantedKey } from "../../harness/planted-key.ts";

export interface Wanted {
  /** The value of a header on every request. */
  readonly team: number;
  readonly isCached: boolean;
  readonly policy: "tail-5m" | "tail-1h" | "last-n" | "system-only";
  /** Where volatile text goes in new sessions; existing sessions keep their layout. */
  readonly volatile: "message-tail" | "system-tail";
  readonly isCompacting: boolean;
  /** Low enough for every history, or for none. */
  readonly compactAt: "low" | "high";
  /** Whether the model has a small window and output limit. */
  readonly isSmall: boolean;
  readonly isCounting: boolean;
  readonly attemptsMax: number;
}

export const firstWanted: Wanted = {
  team: 1,
  isCached: true,
  policy: "tail-5m",
  volatile: "message-tail",
  isCompacting: false,
  compactAt: "high",
  isSmall: false,
  isCounting: false,
  attemptsMax: 1,
};

/** The output limit of the small model. */
export const smallOutputTokens = 2000;

/** Always the same length, and invalid if its last characters are missing. */
export function toYaml(wanted: Wanted, url: string): string {
  const { isCompacting, compactAt, isSmall, isCounting } = wanted;
  const limits = isSmall ? `{ window: 12000, maxOutput: ${smallOutputTokens} }` : "{}";
  const yaml = `
context_optimization:
  prompt_cache: { enabled: ${wanted.isCached} }
  compaction: { enabled: ${isCompacting}, compact_at_pct: ${compactAt === "low" ? 0.003 : 0.9}, timing: at_once, tail_keep_tokens: 300 }
  token_counter: { enabled: ${isCounting} }
models: { default: claude-sonnet-4-6, override: { claude-sonnet-4-6: ${limits} } }
policies: { default: ${wanted.policy}, layout: { volatile: ${wanted.volatile} } }
tools: { toolset: none }
providers:
  anthropic: { base_url: "${url}", headers: { x-team: "${wanted.team}" }, retries: { attempts_max: ${wanted.attemptsMax}, backoff_ms_base: 1, backoff_ms_max: 1 }, api_key: "${plantedKey}" }
`;
  return `#${yaml.padStart(1200, "-")}`;
}

export interface ChangeKind {
  readonly name: string;
  /** Whether requests of all sessions show it at once. */
  readonly isSeenAtOnce?: boolean;
  readonly change: (wanted: Wanted) => Wanted;
}

/** Every change is visible on the wire. */
export const changeKinds: readonly ChangeKind[] = [
  { name: "compaction", change: (w) => ({ ...w, isCompacting: !w.isCompacting }) },
  { name: "policy", isSeenAtOnce: true, change: (w) => ({ ...w, policy: nextPolicy(w.policy) }) },
  {
    name: "compact_at_pct",
    change: (w) => ({ ...w, compactAt: w.compactAt === "low" ? "high" : "low" }),
  },
  { name: "prompt_cache", isSeenAtOnce: true, change: (w) => ({ ...w, isCached: !w.isCached }) },
  { name: "headers", isSeenAtOnce: true, change: (w) => ({ ...w, team: w.team + 1 }) },
  {
    name: "layout",
    change: (w) => ({
      ...w,
      volatile: w.volatile === "message-tail" ? "system-tail" : "message-tail",
    }),
  },
  { name: "retries", change: (w) => ({ ...w, attemptsMax: w.attemptsMax + 1 }) },
  { name: "model limits", isSeenAtOnce: true, change: (w) => ({ ...w, isSmall: !w.isSmall }) },
  { name: "token_counter", change: (w) => ({ ...w, isCounting: !w.isCounting }) },
];

const policies = ["tail-5m", "tail-1h", "last-n", "system-only"] as const;

function nextPolicy(policy: Wanted["policy"]): Wanted["policy"] {
  return policies[(policies.indexOf(policy) + 1) % policies.length] ?? "tail-5m";
}

/** Whether every history worth a compaction is compacted. */
export function expectCompactions({ isCompacting, compactAt, isSmall }: Wanted): boolean {
  return isSmall || (isCompacting && compactAt === "low");
}
