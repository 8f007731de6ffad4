// Checks markers against the provider's rules: place, number, order and minimum length.
import { canCarry } from "../cache/fit-markers.ts";
import { keptMsOf } from "../cache/cache-state.ts";
import type { CacheRules } from "../models/cache-rules.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { MarkerRules } from "../models/marker-rules.ts";
import type { ForeignRequest } from "../wire/foreign/foreign-request.ts";
import type { LintFinding } from "./lint-finding.ts";

export function lintMarkers(
  request: ForeignRequest,
  { cache }: ModelFacts,
): readonly LintFinding[] {
  const { markers: rules } = cache;
  const found =
    rules === null
      ? [lintUntaken(request)]
      : [
          lintAbsent(request, cache),
          ...lintPlaces(request, rules),
          lintCount(request, rules),
          lintOrder(request, cache),
          ...lintLength(request, cache),
        ];
  return found.filter((finding) => finding !== null);
}

function lintUntaken({ markers, requestMarker }: ForeignRequest): LintFinding | null {
  const [first] = markers;
  if (first === undefined && requestMarker === null) return null;
  return {
    rule: "marker-not-taken",
    severity: "warning",
    path: first?.path ?? "cache_control",
    message: "this model takes no markers",
    advice: "Remove them: the provider ignores or refuses them, and keeps what it keeps by itself.",
  };
}

function lintAbsent(request: ForeignRequest, cache: CacheRules): LintFinding | null {
  const { markers, requestMarker, blocks, mode } = request;
  if (markers.length > 0 || requestMarker !== null) return null;
  const keepsByItself = cache.automatic?.takesMarkerSlot === true && mode === "implicit";
  const tokens = blocks.at(-1)?.endTokens ?? 0;
  if (keepsByItself || tokens < (cache.minimumTokens ?? 0)) return null;
  return {
    rule: "no-marker",
    severity: "warning",
    path: "",
    message: `about ${tokens} tokens and no marker: nothing of them is kept`,
    advice: "Mark the last block that will be sent again, or the request as a whole.",
  };
}

function lintPlaces(
  { markers, strayMarkers, blocks }: ForeignRequest,
  rules: MarkerRules,
): readonly LintFinding[] {
  const wrong = markers.flatMap(({ block, path }) => {
    const at = blocks[block];
    const isFine = at === undefined || at.kind === "other" || canCarry(at, rules);
    return isFine ? [] : [{ path, on: at.kind }];
  });
  return [...strayMarkers, ...wrong].map(({ path, on }) => ({
    rule: "marker-not-taken",
    severity: "error",
    path,
    message: `a ${on} cannot carry a marker`,
    advice: "Put it on the nearest block before it that can.",
  }));
}

function lintCount(
  { markers, requestMarker }: ForeignRequest,
  { markersMax, excess }: MarkerRules,
): LintFinding | null {
  const count = markers.length + (requestMarker === null ? 0 : 1);
  if (count <= markersMax) return null;
  const isRefused = excess === "rejected";
  return {
    rule: "too-many-markers",
    severity: isRefused ? "error" : "warning",
    path: markers[markersMax]?.path ?? "cache_control",
    message: `${count} markers, and ${markersMax} are ${isRefused ? "allowed" : "counted"}`,
    advice: isRefused
      ? "Keep those on the system prompt and on the latest messages."
      : "Only the latest count: remove the others.",
  };
}

/** The marker for the whole request stands on its last block. */
function lintOrder(
  { markers, requestMarker }: ForeignRequest,
  cache: CacheRules,
): LintFinding | null {
  if (cache.markers?.lifetimeOrder !== "longest first") return null;
  const all = [
    ...markers,
    ...(requestMarker === null ? [] : [{ lifetime: requestMarker, path: "cache_control" }]),
  ];
  let shortest = Number.POSITIVE_INFINITY;
  for (const { lifetime, path } of all) {
    const keptMs = keptMsOf(lifetime, cache);
    if (keptMs > shortest) {
      return {
        rule: "lifetime-order",
        severity: "error",
        path,
        message: `a marker of ${lifetime} stands after one with a shorter lifetime`,
        advice: "Longer lifetimes come first, over tools, system and messages.",
      };
    }
    shortest = Math.min(shortest, keptMs);
  }
  return null;
}

function lintLength(
  { markers, blocks }: ForeignRequest,
  { minimumTokens }: CacheRules,
): readonly LintFinding[] {
  if (minimumTokens === null) return [];
  return markers.flatMap(({ block, path }): LintFinding[] => {
    const tokens = blocks[block]?.endTokens ?? 0;
    if (tokens >= minimumTokens) return [];
    return [
      {
        rule: "marker-below-minimum",
        severity: "warning",
        path,
        message: `about ${tokens} tokens up to here, and fewer than ${minimumTokens} are not kept`,
        advice: "Mark a later block, or make the part before it longer.",
      },
    ];
  });
}
