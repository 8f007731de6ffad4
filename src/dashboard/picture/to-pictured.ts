// An answer of the API → what the cross-section draws. Billed tokens are scaled to our count, in which blocks are known.
import type { ApiRoutes } from "../../api/client/answers.ts";
import { toDollars } from "../words/figures.ts";
import type { PicturedCall } from "./pictured-call.ts";

export type AnsweredCall = ApiRoutes["session_picture"]["answer"]["data"]["calls"][number];

export function toPictured(calls: readonly AnsweredCall[]): readonly PicturedCall[] {
  return calls.map((call) => {
    const { dollars, miss } = call;
    const counted = call.added.reduce((sum, { tokens }) => sum + tokens, call.kept_tokens);
    const written = Object.entries(call.written_tokens);
    const billed =
      call.read_tokens + call.uncached_tokens + written.reduce((sum, [, each]) => sum + each, 0);
    const scale = billed === 0 || counted === 0 ? 1 : counted / billed;
    return {
      number: call.number,
      startMs: Date.parse(call.started_at),
      model: call.model,
      keptTokens: call.kept_tokens,
      // Without blocks there is still the bill.
      added:
        counted === 0 && billed > 0
          ? [{ tier: "T3" as const, section: "", tokens: billed, since: call.number }]
          : call.added,
      readTokens: call.read_tokens * scale,
      written: written.map(([lifetime, tokens]) => ({ lifetime, tokens: tokens * scale })),
      outputTokens: call.output_tokens,
      markers: call.markers.map((marker) => ({
        atTokens: marker.at_tokens,
        lifetime: marker.lifetime,
        reason: marker.reason ?? "",
      })),
      miss: miss && {
        cause: miss.cause,
        atTokens: miss.at_tokens,
        lostTokens: miss.lost_tokens,
        lostDollars: toDollars(miss.lost_usd),
        block: miss.block,
        byte: miss.byte,
        advice: miss.advice,
      },
      isCompacted: call.is_compacted,
      dollars: dollars && {
        read: Number(dollars.read_usd),
        written: Number(dollars.written_usd),
        fresh: Number(dollars.uncached_usd),
        output: Number(dollars.output_usd),
      },
      plainDollars: toDollars(call.plain_usd),
      comparedDollars: toDollars(call.compared_usd),
    };
  });
}
