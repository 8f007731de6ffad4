// Reads the configuration from a request and compares it with the wanted one.
import type { SeenRequest } from "./place.ts";
import { smallOutputTokens, type Wanted } from "./wanted.ts";

export interface Shown {
  /** The number of its turn. */
  readonly turn: number;
  readonly isSummary: boolean;
  /** Whether it only counts tokens. */
  readonly isCount: boolean;
  readonly team: string | null;
  readonly outputTokensMax: number;
  /** Places and lifetimes of the markers. */
  readonly markers: readonly Marker[];
  readonly volatile: "system" | "messages" | "nowhere";
}

export interface Marker {
  readonly at: "tools" | "system" | "messages";
  readonly lifetime: string;
}

interface Body {
  readonly max_tokens?: number;
  readonly tools?: readonly unknown[];
  readonly system: readonly unknown[];
  readonly messages: readonly { readonly content: unknown }[];
}

export function readShown({ path, headers, body }: SeenRequest): Shown {
  const parsed = JSON.parse(body) as Body;
  const { max_tokens: outputTokensMax = 0, tools = [], system, messages } = parsed;
  const turns = [...body.matchAll(/Turn (\d+)\./g)];
  return {
    turn: Number(turns.at(-1)?.[1] ?? -1),
    isCount: path.endsWith("/count_tokens"),
    isSummary: body.includes("Write a summary of the"),
    team: headers.get("x-team"),
    outputTokensMax,
    markers: [
      ...markersIn("tools", tools),
      ...markersIn("system", system),
      ...markersIn("messages", messages),
    ],
    volatile: isToldIn(system) ? "system" : isToldIn(messages.at(-1)) ? "messages" : "nowhere",
  };
}

function isToldIn(part: unknown): boolean {
  return JSON.stringify(part).includes("Current time: ");
}

function markersIn(at: Marker["at"], part: unknown): readonly Marker[] {
  const found = JSON.stringify(part).matchAll(/"cache_control":\{([^}]*)\}/g);
  return [...found].map(([, inside = ""]) => ({
    at,
    lifetime: /"ttl":"(\w+)"/.exec(inside)?.[1] ?? "5m",
  }));
}

/** The differences, in words. Requests for summaries have their own settings. */
export function compareShown(shown: Shown, wanted: Wanted): readonly string[] {
  const problems: string[] = [];
  const differ = (what: string, is: unknown, should: unknown): void => {
    problems.push(`${what} is ${String(is)} in turn ${shown.turn}, not ${String(should)}`);
  };
  if (shown.team !== String(wanted.team)) differ("the header", shown.team, wanted.team);
  if (shown.isCount && !wanted.isCounting) differ("the counter", "asked", "switched off");
  if (shown.isSummary || shown.isCount) return problems;
  const policy = wanted.isCached ? wanted.policy : "none";
  if (!fits[policy](shown.markers)) differ("the policy", JSON.stringify(shown.markers), policy);
  const isSmall = shown.outputTokensMax <= smallOutputTokens;
  if (isSmall !== wanted.isSmall)
    differ("max_tokens", shown.outputTokensMax, wanted.isSmall ? "small" : "large");
  const place = wanted.volatile === "system-tail" ? "system" : "messages";
  // Later calls of a turn may leave it out.
  const isElsewhere = shown.volatile !== place && shown.volatile !== "nowhere";
  if (isElsewhere) differ("volatile text", shown.volatile, place);
  return problems;
}

const fits: Readonly<Record<Wanted["policy"] | "none", (markers: readonly Marker[]) => boolean>> = {
  none: (markers) => markers.length === 0,
  "tail-5m": (markers) => isTail(markers, "5m"),
  "tail-1h": (markers) => isTail(markers, "1h"),
  "last-n": (markers) => countAt(markers, "messages") > 0 && countAt(markers, "system") > 0,
  "system-only": (markers) => markers.length > 0 && countAt(markers, "messages") === 0,
};

function isTail(markers: readonly Marker[], lifetime: string): boolean {
  return markers.length === 1 && markers[0]?.at === "messages" && markers[0].lifetime === lifetime;
}

function countAt(markers: readonly Marker[], where: Marker["at"]): number {
  return markers.filter(({ at }) => at === where).length;
}
