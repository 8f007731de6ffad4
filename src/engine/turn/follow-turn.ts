// One handle for two things that come one after the other: what a process left open, and the turn that was asked for.
import type { TurnRun } from "./deps.ts";
import type { TurnHandle, TurnPart } from "./turn-handle.ts";

export interface TurnToFollow {
  readonly turnId: string;
  /** A turn whose parts are shown first, or work without parts. Where it throws, the second turn does not begin. */
  readonly first: TurnHandle | Promise<void>;
  readonly begin: () => TurnHandle;
}

/** Parts of both, in order; the result is the second turn's. */
export function followTurn({ turnId, first, begin }: TurnToFollow): TurnHandle {
  const isTurn = "result" in first;
  let current: TurnHandle | null = isTurn ? first : null;
  let abortedBy: { readonly reason: string | undefined } | null = null;
  const beginNext = async (): Promise<TurnHandle> => {
    await (isTurn ? first.result : first);
    current = begin();
    if (abortedBy !== null) current.abort(abortedBy.reason);
    return current;
  };
  const next = beginNext();
  const result = next.then((turn): Promise<TurnRun> => turn.result);
  // A caller who reads the parts alone is told there.
  result.catch(() => {});
  return {
    turnId,
    result,
    abort: (reason) => {
      abortedBy = { reason };
      current?.abort(reason);
    },
    steer: (text) => current?.steer(text) ?? false,
    get phase() {
      return current?.phase ?? "preparing";
    },
    get isStreaming() {
      return current?.isStreaming ?? false;
    },
    get isCompacting() {
      return current?.isCompacting ?? false;
    },
    [Symbol.asyncIterator]: () => readBoth(isTurn ? first : null, next),
  };
}

async function* readBoth(
  first: TurnHandle | null,
  next: Promise<TurnHandle>,
): AsyncGenerator<TurnPart> {
  if (first !== null) yield* first;
  let turn: TurnHandle;
  try {
    turn = await next;
  } catch (error) {
    // A first turn that failed has said so itself.
    if (first === null) yield { type: "failed", error };
    return;
  }
  yield* turn;
}
