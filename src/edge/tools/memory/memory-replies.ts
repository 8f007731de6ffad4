// What a reply of the model knew about memory, and what it was asked. Its tool uses may run concurrently.
import { hashContent, type ContentHash } from "../../../core/hash.ts";
import { memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import type { ToolCallContext } from "../../../core/tools/tool.ts";
import type { MemoryStore } from "../../files/memory/memory-store.ts";

export interface Questions {
  ask(file: MemoryFile, content: string, call: ToolCallContext): void;
  /**
   * Repeating the same consolidation confirms it, once. It does not count within the reply that was asked,
   * which came before the question.
   */
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
  /** Call it first for every use. */
  take(call: ToolCallContext): void;
  /** What the session had seen when its reply was made, without the writes of other uses in that reply. */
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
