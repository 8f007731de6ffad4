// What a turn hears while it runs: words of its caller, and messages of its session's queue.
import type { Message } from "../../core/message/message.ts";

/** What the steps of a turn need to know of its session's queue. */
export interface TurnQueue {
  /** As of a new turn in the ledger. */
  readonly takes: readonly string[] | undefined;
  /** The queue item that a steered message came from. */
  readonly itemOf: (message: Message) => SteeredItem | undefined;
  readonly onOpened: () => void;
}

/** A message of the queue for the running turn. It is taken with the commit that records it. */
export interface SteeredItem {
  readonly id: string;
  readonly message: Message;
  readonly onTaken: () => void;
}

export interface Steering {
  readonly queue: TurnQueue;
  /** The turn takes these queue items when it opens; for an empty list, nothing may wait before it. */
  readonly take: (ids: readonly string[]) => void;
  /** Resolves when the turn is open in the ledger. */
  readonly opened: Promise<void>;
  readonly say: (message: Message) => void;
  readonly steer: (item: SteeredItem) => void;
  /** False if the turn already has the message. */
  readonly unsteer: (message: Message) => boolean;
  /** New messages, each once. */
  readonly takeSteered: () => readonly Message[];
}

export function createSteering(): Steering {
  const said: Message[] = [];
  const items = new Map<Message, SteeredItem>();
  const { promise: opened, resolve: onOpened } = Promise.withResolvers<void>();
  let takes: readonly string[] | undefined;
  return {
    queue: {
      get takes() {
        return takes;
      },
      itemOf: (message) => items.get(message),
      onOpened,
    },
    take: (ids) => {
      takes = ids;
    },
    opened,
    say: (message) => void said.push(message),
    steer: (item) => {
      items.set(item.message, item);
      said.push(item.message);
    },
    unsteer: (message) => {
      const at = said.indexOf(message);
      if (at !== -1) said.splice(at, 1);
      return at !== -1;
    },
    takeSteered: () => said.splice(0),
  };
}
