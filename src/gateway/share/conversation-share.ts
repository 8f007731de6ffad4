// Lets conversations go on at another gateway, or after a restart. Without a share, only this process knows them.
import type { ContentHash } from "../../core/hash.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { ForeignRequest } from "../../core/wire/foreign/foreign-request.ts";
import type { CallMarks } from "../observe/client-marks.ts";
import type { Conversation } from "../observe/conversation.ts";
import type { Conversations } from "../observe/conversations.ts";

export interface ConversationShare {
  /** When a call's body is read. Null if everything about its conversation is known here. */
  seek(call: CallToSeek, conversations: Conversations): Seeking | null;
  /** After a call: its conversation, and its reply's id; empty for none. */
  keep(after: AnsweredConversation): void;
}

export interface CallToSeek {
  readonly tenant: string;
  readonly upstream: string;
  readonly marks: CallMarks;
  /** As it is sent, but for markers. */
  readonly request: ForeignRequest;
}

/** What others know is being asked for. */
export interface Seeking {
  /** Resolves when the answer is among the conversations, or will not come. It takes some seconds at most, and never rejects. */
  readonly done: Promise<void>;
  /** Whether the conversation goes on from calls of which the latest is not known here. */
  isUnsure(): boolean;
  /** The request was sent without waiting for the answer. */
  noteLate(): void;
}

export interface AnsweredConversation {
  readonly callId: string;
  readonly conversation: Conversation;
  readonly facts: ModelFacts | null;
  readonly replyId: string;
  readonly endedMs: number;
  /** How many blocks it begins with that the call before had, too. */
  readonly keptBlocks: number;
  /** The last key of the line that it goes on from; null for a new line. */
  readonly replaces: ContentHash | null;
}

export interface Turns {
  /** Runs work after what came before it for the same key, and after what it waits for; at once if there is nothing. */
  run(key: string, after: Promise<void> | null, work: () => void): void;
  /** Resolves when no work waits. */
  done(): Promise<void>;
}

/** A fault in work that had to wait goes to `onFault`. */
export function openTurns(onFault: (error: unknown) => void): Turns {
  const waiting = new Map<string, Promise<void>>();
  return {
    run: (key, after, work) => {
      const before = waiting.get(key);
      if (before === undefined && after === null) return work();
      const turn = Promise.all([before, after]).then(work).catch(onFault);
      waiting.set(key, turn);
      void turn.finally(() => {
        if (waiting.get(key) === turn) waiting.delete(key);
      });
    },
    done: async () => {
      while (waiting.size > 0) await Promise.all(waiting.values());
    },
  };
}
