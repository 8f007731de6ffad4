// Siblings that begin alike: one goes first and writes the prefix, the others wait until it can be read.
import { ToolError } from "../../core/tools/tool.ts";
import { untilAborted } from "../turn/until-aborted.ts";

export interface FanOut {
  /** Resolves when this one may be sent: nobody is writing the prefix, or its writer's response has begun. */
  enter(prefix: string, signal?: AbortSignal): Promise<Sibling>;
}

/** Of one that goes first. What one that follows says changes nothing. */
export interface Sibling {
  /** Providers let others read a prefix once the response to its writer has begun. */
  begun(): void;
  /** Without a response: the next one goes first. Nothing after `begun`. */
  ended(): void;
}

export function createFanOut(): FanOut {
  /** By prefix: whether the response to the one that writes it began. */
  const writing = new Map<string, Promise<boolean>>();
  const lead = (prefix: string): Sibling => {
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
      return lead(prefix);
    },
  };
}

const follower: Sibling = { begun: () => {}, ended: () => {} };

function cancelled(): never {
  throw new ToolError("cancelled", "cancelled before it was sent");
}
