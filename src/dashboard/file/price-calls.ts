// What a recorded call costs at list prices, by bucket of the bill.
import type { Usage } from "../../core/message/usage.ts";
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findCost } from "../../core/models/cost.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { CallDetail } from "../../replay/call-detail.ts";
import type { PicturedDollars } from "../picture/pictured-call.ts";

export interface CallPrice {
  readonly dollars: PicturedDollars;
  readonly totalUsd: number;
}

/** Null where the model has no price. */
export type Pricer = (
  call: Pick<CallDetail, "model" | "startMs">,
  usage: Usage,
) => CallPrice | null;

export function createPricer(catalogue: Catalogue): Pricer {
  const facts = new Map<string, ReturnType<typeof findModel>>();
  return ({ model, startMs }, usage) => {
    if (!facts.has(model)) facts.set(model, findModel(model, catalogue));
    const found = facts.get(model);
    if (!found) return null;
    const { cost } = findCost(usage, found.facts, { at: startMs });
    if (cost === null) return null;
    const written = Object.values(cost.writePicoUsd).reduce((sum, each) => sum + each, 0n);
    return {
      dollars: {
        read: toUsd(cost.readPicoUsd),
        written: toUsd(written),
        fresh: toUsd(cost.uncachedPicoUsd),
        output: toUsd(cost.outputPicoUsd + cost.reasoningPicoUsd),
      },
      totalUsd: toUsd(cost.totalPicoUsd),
    };
  };
}

/** To be drawn, with the digits that a bill has. */
function toUsd(pico: bigint): number {
  return Number(pico / 1_000_000n) / 1e6;
}
