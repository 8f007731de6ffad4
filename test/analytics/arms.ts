// What savings say of conversations that the gateway optimised and of those that it held out, on every store.
import { expect, test } from "vitest";
import type { GatewayCall } from "../../src/core/ledger/gateway-call.ts";
import { gatewayCall } from "../ledger/gateway-kit.ts";
import type { TestStore } from "../ledger/stores.ts";
import { ask } from "./every-question.ts";

/** Twenty conversations of two calls; the first call of each has a sub-agent's beside it. */
function armOf(name: string, part: Partial<GatewayCall>): readonly GatewayCall[] {
  return Array.from({ length: 20 }, (_, at) => {
    const id = `${name}-${at}`;
    const worker = { kind: "sub-agent" as const, parentId: id };
    return [
      gatewayCall(id, 1, part),
      gatewayCall(id, 2, part),
      gatewayCall(`${id}/worker`, 1, part, worker),
    ];
  }).flat();
}

export function armsContract(store: TestStore): void {
  test("optimised conversations are compared with those held out, and with the account of the clients' markers", async () => {
    const { ledger, database } = await store.open();
    const plainCostPicoUsd = 10_000_000_000_000_001n;
    const paid = (costPicoUsd: bigint): Partial<GatewayCall> => ({ costPicoUsd, plainCostPicoUsd });
    const marked = {
      arm: "strata" as const,
      policy: "adaptive" as const,
      clientCostPicoUsd: 4_000_000_000_000_000n,
    };
    await ledger.recordCalls([
      ...armOf("strata", { ...marked, ...paid(3_000_000_000_000_000n) }),
      ...armOf("holdout", { arm: "holdout", ...paid(4_000_000_000_000_000n) }),
      ...armOf("client", { arm: "client", ...paid(9_000_000_000_000_000n) }),
      gatewayCall("unasked", 1, paid(9_000_000_000_000_000n)),
      // Neither a price nor a claim.
      gatewayCall("strata-unpriced", 1, {
        arm: "strata",
        costPicoUsd: null,
        plainCostPicoUsd: null,
        clientCostPicoUsd: null,
      }),
    ]);
    const { data, notes } = await ask(database, "savings", { groupBy: "agent" });
    expect(data).toMatchObject([
      {
        agent: "claude-code",
        arms: {
          strata_conversation_count: 20,
          holdout_conversation_count: 20,
          strata_call_count: 60,
          holdout_call_count: 60,
          strata_cost_usd: "180000.000000",
          holdout_cost_usd: "240000.000000",
          strata_cost_per_conversation_usd: "9000.000000",
          holdout_cost_per_call_usd: "4000.000000",
          saved_share_low: expect.closeTo(0.25, 9),
          saved_share: expect.closeTo(0.25, 9),
          saved_share_high: expect.closeTo(0.25, 9),
          claim: "cheaper",
          reason: null,
          marked_call_count: 60,
          client_cost_usd: "240000.000000",
          compared_cost_usd: "180000.000000",
          saved_usd: "60000.000000",
          compared_call_count: 60,
          unpriced_call_count: 1,
        },
      },
    ]);
    expect(notes).toEqual([
      "claude-code: 20 optimised conversations at 30.0 % of their cost without a cache, 20 held out at 40.0 % of their cost without a cache; optimising cost 25.0 % less (25.0 % to 25.0 % less with 95.0 % confidence)",
      "claude-code: 60 calls of those optimised cost $180000.000000, and with the clients' own markers $240000.000000 by the gateway's account",
    ]);
  });

  test("of a few conversations nothing is claimed, and of none nothing is said", async () => {
    const { ledger, database } = await store.open();
    await ledger.recordCalls([gatewayCall("plain", 1)]);
    const { data, notes } = await ask(database, "savings", { groupBy: "none" });
    expect(data).toMatchObject([{ arms: null }]);
    expect(notes).toEqual([]);
    await ledger.recordCalls([gatewayCall("held", 1, { arm: "holdout" })]);
    const held = await ask(database, "savings", { groupBy: "none" });
    expect(held.data).toMatchObject([{ arms: { claim: null, saved_share_low: null } }]);
    expect(held.notes[0]).toBe(
      "0 optimised conversations, 1 held out at 20.0 % of their cost without a cache; nothing is claimed: 0 optimised and 1 held-out conversations are too few, 20 of each are needed",
    );
  });
}
