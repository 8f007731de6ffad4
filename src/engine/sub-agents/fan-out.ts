// Siblings with the same prefix: the first one writes it, the others wait until they can read it.
import { ToolError } from "../../core/tools/tool.ts";
import { untilAborted } from "../turn/until-aborted.ts";

export interface FanOut {
  /** Resolves when this one may send: no sibling is writing the prefix, or the writer's response has begun. */
  enter(prefix: string, signal?: AbortSignal): Promise<Sibling>;
}

/** Reports the progress of the first sibling. Reports of the others change nothing. */
export interface Sibling {
  /** Providers let others read a prefix once the response to its writer has begun. */
  begun(): void;
  /** Ended without a response: the next sibling goes first. Does nothing after `begun`. */
  ended(): void;
}

export function createFanOut(): FanOut {
  /** By prefix: whether the writer's response began. */
  const writing = new Map<string, Promise<boolean>>();
  const writeFirst = (prefix: string): Sibling => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    writing.set(prefix, promise);
    const settle = (hasBegun: boolean): void => {
      if (writing.get(prefix) === promise) writing.delete(prefix);
      resolve(hasBegun);
    };
    return { begun: () => settle(true), ended: () => settle(false) };
  };
  return {
    enter: async (prefix, signal) => {
      for (let first = writing.get(prefix); first !== undefined; first = writing.get(prefix)) {
        if (await untilAborted(first, signal, cancelled)) return follower;
      }
      return writeFirst(prefix);
    },
  };
}

const follower: Sibling = { begun: () => {}, ended: () => {} };

function cancelled(): never {
  throw new ToolError("cancelled", "cancelled before it was sent");
}
