// Changes the model of a running turn: its row and the session's state in one commit.
import { hashContent } from "../../../../core/hash.ts";
import type { LeftInTurn, NextModel } from "../../../../core/ledger/turn-record.ts";
import { StrataError } from "../../../../core/strata-error.ts";
import type { Statement } from "../../sql/database.ts";
import { checkFoundation, storable, storableJson } from "../../sql/storable.ts";
import { contentWrites } from "../message-rows.ts";
import { landedRow, type Store } from "../store.ts";
import { type HeldTurn, type TurnWrite, leaseGuard, leaseUpdate } from "./held-turn.ts";

const switching = leaseUpdate("state_json = ?, updated_ms = ?, ");

/** From here on the turn belongs to the next model. Tools and system text that it stored for the model before are dropped. */
export function switchStep(store: Store, held: HeldTurn, next: NextModel): TurnWrite {
  const { foundation } = next;
  checkFoundation(`turn ${held.id}`, foundation);
  checkPlace(held, next.left);
  const switches = [...held.switches, next.left];
  return {
    commit: {
      guards: [leaseGuard(store, held, switching, [storableJson(next.stateJson), store.now()])],
      writes: [
        ...contentWrites(foundation === undefined ? [] : [foundation]),
        {
          sql: "UPDATE turns SET model = ?, provider = ?, foundation_hash = ?, setup_json = ?, switches_json = ? WHERE id = ?",
          values: [
            storable(next.model),
            storable(next.provider),
            foundation === undefined ? null : hashContent(foundation),
            storableJson(next.setupJson),
            toText(switches),
            held.id,
          ],
        },
      ],
      landed: () => landedSwitch(held, next, switches),
    },
    next: { ...held, provider: next.provider, switches },
  };
}

/** Asks whether exactly this change is recorded already. Null if none is after that call. */
export function repeatedSwitch(held: HeldTurn, next: NextModel): Statement | null {
  const isMade = held.switches.some(({ through }) => through === next.left.through);
  return isMade ? landedSwitch(held, next, held.switches) : null;
}

function landedSwitch(
  { id }: HeldTurn,
  { model, provider }: NextModel,
  switches: readonly LeftInTurn[],
): Statement {
  const [to, of] = [storable(model), storable(provider)];
  return landedRow("turns", { id, model: to, provider: of, switches_json: toText(switches) });
}

/** A model is left after a call of its own, once. */
function checkPlace({ id, callCount, switches }: HeldTurn, { through }: LeftInTurn): void {
  if (through === callCount && through > (switches.at(-1)?.through ?? 0)) return;
  throw new StrataError(
    "input-invalid",
    `turn ${id} has ${callCount} calls, and cannot leave its model after call ${through}`,
    "change the model after its last call, once",
  );
}

function toText(switches: readonly LeftInTurn[]): string {
  return JSON.stringify(
    switches.map(({ through, model, provider, name }) => ({
      through,
      model: storable(model),
      provider: storable(provider),
      name: storable(name),
    })),
  );
}
