// The configured ledger, opened for one piece of work and closed after it.
import { closing, makeStore, openStore, type OpenStore } from "../../edge/stores/open-store.ts";
import { atLedgerPlace, type LedgerPlace, type LedgerWish } from "./ledger-place.ts";

export interface StoreWish extends LedgerWish {
  /** Called with problems that do not end the work. */
  readonly onProblem: (problem: unknown) => void;
}

/** Works on the ledger and the database below it. */
export type StoreWork<Result> = (store: OpenStore, place: LedgerPlace) => Promise<Result>;

/** Creates no ledger: if there is none, `ifMissing` gives the result. */
export function withStore<Result>(
  wish: StoreWish,
  work: StoreWork<Result>,
  ifMissing: (place: LedgerPlace) => Result,
): Promise<Result> {
  return atLedgerPlace(wish, async (place) => {
    const store = await openStore(place.where, { onProblem: wish.onProblem });
    return store === null ? ifMissing(place) : closing(store.ledger, () => work(store, place));
  });
}

/** Creates the ledger if there is none. */
export function withMadeStore<Result>(wish: StoreWish, work: StoreWork<Result>): Promise<Result> {
  return atLedgerPlace(wish, async (place) => {
    const store = await makeStore(place.where, { onProblem: wish.onProblem });
    return closing(store.ledger, () => work(store, place));
  });
}
