// The result of a memory write, as a sentence, as events and as metadata.
import type { PayloadOf } from "../events/event.ts";
import { hashContent, type ContentHash } from "../hash.ts";
import { countBytes } from "../layers/cut-middle.ts";
import { memoryCaps, type MemoryFile } from "./memory-file.ts";
import { describeWarnings, scanMemory, type MemoryWarning } from "./scan-memory.ts";
import type { MemoryOperation } from "./change-memory.ts";

export interface MemoryWrite {
  readonly file: MemoryFile;
  readonly operation: MemoryOperation["kind"];
  readonly beforeHash: ContentHash;
  readonly afterHash: ContentHash;
  readonly beforeSizeBytes: number;
  readonly afterSizeBytes: number;
  readonly isOverSoftCap: boolean;
  /** A text over the hard cap is never written. */
  readonly isOverHardCap: false;
  /** How many entries a consolidation removed. */
  readonly entriesEvicted: number;
  /** The file was changed elsewhere since this session last saw it. Those changes are kept. */
  readonly isMerged: boolean;
  /** About the written text, not about the text before. */
  readonly warnings: readonly MemoryWarning[];
}

export interface WrittenTexts {
  readonly before: string;
  readonly after: string;
  readonly isMerged: boolean;
}

export function toMemoryWrite(
  file: MemoryFile,
  operation: MemoryOperation,
  { before, after, isMerged }: WrittenTexts,
): MemoryWrite {
  const afterSizeBytes = countBytes(after);
  const isWhole = operation.kind === "consolidate";
  return {
    file,
    operation: operation.kind,
    beforeHash: hashContent(before),
    afterHash: hashContent(after),
    beforeSizeBytes: countBytes(before),
    afterSizeBytes,
    isOverSoftCap: afterSizeBytes > memoryCaps[file].softBytes,
    isOverHardCap: false,
    entriesEvicted: isWhole ? Math.max(0, countEntries(before) - countEntries(after)) : 0,
    isMerged,
    warnings: scanMemory(wordsOf(operation)),
  };
}

/** The sentence the model sees. */
export function describeWrite(write: MemoryWrite): string {
  const { file, operation, beforeSizeBytes, afterSizeBytes, isOverSoftCap } = write;
  const hint = isOverSoftCap ? " — over soft cap; consider memory_consolidate" : "";
  const sentences: string[] = [];
  if (write.beforeHash === write.afterHash) {
    sentences.push(`${file} holds exactly this already; ${afterSizeBytes} bytes, unchanged.`);
  } else if (operation === "consolidate") {
    const still = isOverSoftCap ? " — still over soft cap" : "";
    sentences.push(`Consolidated ${file}: ${beforeSizeBytes} → ${afterSizeBytes} bytes${still}.`);
  } else {
    const what = operation === "add" ? `Added to ${file}` : `Replaced in ${file}`;
    sentences.push(`${what}; it has ${afterSizeBytes} bytes now${hint}.`);
  }
  if (write.isMerged) {
    sentences.push(`${file} was changed elsewhere meanwhile; those changes are kept.`);
  }
  if (write.warnings.length > 0) sentences.push(describeWarnings(write.warnings));
  return sentences.join(" ");
}

/** For records and `tool.completed`. */
export function metadataOf(write: MemoryWrite): Readonly<Record<string, unknown>> {
  return {
    file: write.file,
    operation: write.operation,
    before_hash: write.beforeHash,
    after_hash: write.afterHash,
    before_size_bytes: write.beforeSizeBytes,
    after_size_bytes: write.afterSizeBytes,
    over_soft_cap: write.isOverSoftCap,
    merged: write.isMerged,
    warnings: write.warnings.map(({ what }) => what),
  };
}

export interface MemoryEvents {
  readonly updated: PayloadOf<"memory.updated">;
  /** A child event of `updated`. */
  readonly eviction: PayloadOf<"memory.eviction"> | null;
}

/** The payloads of a write's events. Null if it changed nothing. */
export function toMemoryEvents(write: MemoryWrite): MemoryEvents | null {
  const { file, operation, entriesEvicted, isOverSoftCap } = write;
  if (write.beforeHash === write.afterHash) return null;
  return {
    updated: {
      file,
      operation,
      before_hash: write.beforeHash,
      after_hash: write.afterHash,
      before_size_bytes: write.beforeSizeBytes,
      after_size_bytes: write.afterSizeBytes,
    },
    eviction:
      isOverSoftCap || entriesEvicted > 0
        ? {
            file,
            trigger: isOverSoftCap ? "size_cap_exceeded" : "manual",
            entries_evicted: entriesEvicted,
            size_before_bytes: write.beforeSizeBytes,
            size_after_bytes: write.afterSizeBytes,
          }
        : null,
  };
}

/** Counts lines with text; an entry is usually one line. */
function countEntries(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

function wordsOf(operation: MemoryOperation): string {
  switch (operation.kind) {
    case "add":
      return operation.entry;
    case "replace":
      return operation.new;
    case "consolidate":
      return operation.content;
  }
}
