// What one reply of the model knew of memory, and what it was asked: its uses run at the same time, or one after another.
import { hashContent, type ContentHash } from "../../core/hash.ts";
import { memoryFiles, type MemoryFile } from "../../core/memory/memory-file.ts";
import type { ToolCallContext } from "../../core/tools/tool.ts";
import type { MemoryStore } from "../stores/memory/memory-store.ts";

export interface Questions {
  ask(file: MemoryFile, content: string, call: ToolCallContext): void;
  /** The same consolidation again is the answer, once; not in the reply that was asked about, which was there before. */
  isAnswer(file: MemoryFile, content: string, call: ToolCallContext): boolean;
}

export function createQuestions(): Questions {
  const asked = new Map<MemoryFile, { readonly hash: ContentHash; readonly reply: number }>();
  return {
    ask: (file, content, { replyNumber = 0 }) =>
      void asked.set(file, { hash: hashContent(content), reply: replyNumber }),
    isAnswer: (file, content, { replyNumber = Infinity }) => {
      const question = asked.get(file);
      if (question === undefined || replyNumber <= question.reply) return false;
      asked.delete(file);
      return question.hash === hashContent(content);
    },
  };
}

export interface Knowledge {
  /** To be called first for every use. */
  take(call: ToolCallContext): void;
  /** What the session had seen when its reply was made: what other uses of that reply wrote is not in it. */
  of(file: MemoryFile, call: ToolCallContext): ContentHash | null;
}

export function createKnowledge(store: MemoryStore | null): Knowledge {
  let taken = { reply: 0, seen: new Map<MemoryFile, ContentHash | null>() };
  const look = (file: MemoryFile): ContentHash | null => store?.seenHash(file) ?? null;
  return {
    take: ({ replyNumber }) => {
      if (replyNumber === undefined || replyNumber === taken.reply) return;
      taken = {
        reply: replyNumber,
        seen: new Map(memoryFiles.map((file) => [file, look(file)])),
      };
    },
    of: (file, { replyNumber }) =>
      replyNumber === taken.reply ? (taken.seen.get(file) ?? null) : look(file),
  };
}
