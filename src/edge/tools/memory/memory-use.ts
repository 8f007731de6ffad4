// What every use of a memory tool needs: who may write, what was seen when its reply was made, events, and errors with the text for the next try.
import type { ContentHash } from "../../../core/hash.ts";
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { cutText } from "../../../core/layers/workspace-cut.ts";
import { memoryCaps, memoryFiles, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { describeRefusal, type MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import type { MemoryScope } from "../../../core/memory/memory-view.ts";
import { toMemoryEvents, type MemoryWrite } from "../../../core/memory/memory-write.ts";
import { ToolError, type ToolCallContext } from "../../../core/tools/tool.ts";
import type { MemoryStore } from "../../files/memory/memory-store.ts";
import type { EmitInCall } from "../dispatch/tool-trace.ts";

export interface MemoryToolsOptions {
  readonly emit?: EmitInCall;
  /** In a shared session MEMORY.md is neither shown nor written. */
  readonly scope?: MemoryScope;
  /**
   * Up to this size a refusal shows the whole file, which then counts as seen. Below the dispatcher's limit; 16
   * KiB.
   */
  readonly refusalBytesMax?: number;
}

export function requireStore(store: MemoryStore | null): MemoryStore {
  if (store !== null) return store;
  throw new ToolError("execution_error", "this session has no memory; nothing was remembered");
}

export function requireVisible(file: MemoryFile, scope: MemoryScope): MemoryFile {
  if (scope === "main" || file !== "MEMORY.md") return file;
  throw new ToolError("permission_denied", "MEMORY.md is not available in a shared session");
}

/** A refused event does not undo a write. The output mentions it. */
export function emitEvents(
  write: MemoryWrite,
  call: ToolCallContext,
  emit: MemoryToolsOptions["emit"],
): "all" | "some" {
  const payloads = toMemoryEvents(write);
  if (emit === undefined || payloads === null) return "all";
  const { updated, eviction } = payloads;
  try {
    const id = emit({ type: "memory.updated", payload: updated, followsFrom: null }, call);
    if (eviction !== null) {
      emit({ type: "memory.eviction", payload: eviction, followsFrom: id }, call);
    }
    return "all";
  } catch {
    return "some";
  }
}

/** Why memory was not changed, with the text the model needs for the next try. */
export function toToolError(
  { file, refusal }: { readonly file: MemoryFile; readonly refusal: MemoryRefusal },
  bytesMax: number,
): ToolError {
  const sentence = describeRefusal(file, refusal);
  switch (refusal.kind) {
    case "entry-blank":
    case "old-blank":
      return new ToolError("validation_error", sentence);
    case "entry-known":
    case "file-empty":
    case "old-count":
      return new ToolError("execution_error", sentence);
    case "over-hard-cap":
      return new ToolError("execution_error", sentence, { isUserVisible: true });
    case "changed-meanwhile":
      return new ToolError("execution_error", `${sentence}. ${showText(file, refusal, bytesMax)}`);
    case "drop-unconfirmed":
      return new ToolError(
        "execution_error",
        `${sentence}. If all of that may be forgotten, call memory_consolidate again with the very same content`,
      );
  }
}

export type ChangedMeanwhile = Extract<MemoryRefusal, { readonly kind: "changed-meanwhile" }>;

export function isShownWhole({ currentText }: ChangedMeanwhile, bytesMax: number): boolean {
  return countBytes(currentText) <= bytesMax;
}

/** If the text is too long to show, only as much as memory may hold. A person must then shorten it. */
function showText(file: MemoryFile, refusal: ChangedMeanwhile, bytesMax: number): string {
  if (isShownWhole(refusal, bytesMax)) return `It holds now:\n\n${refusal.currentText}`;
  const because = "it is far over its hard cap, so a person has to shorten it";
  const limit = { bytesMax: memoryCaps[file].hardBytes, name: file, because };
  return `It holds now:\n\n${cutText(refusal.currentText, limit).text}`;
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
