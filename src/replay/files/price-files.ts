// What every thread does: takes the next file, reads and prices it, until none is left.
import { assert } from "../../core/assert.ts";
import type { Policy } from "../../core/cache/policy.ts";
import {
  builtInCatalogue,
  createCatalogue,
  type CatalogueChanges,
} from "../../core/models/catalogue.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { loadO200k } from "../../core/tokens/o200k/counter.ts";
import type { GroupBy, ReplayOptions, Sums } from "../books.ts";
import type { CallDetail } from "../call-detail.ts";
import type { FoundFile } from "../readers/find-files.ts";
import type { Run } from "../readers/line-reader.ts";
import { createRecordingReader } from "../readers/read-recordings.ts";
import { createRun, type Claims } from "../readers/run.ts";
import { sumUp } from "../replay.ts";

/** A plain value, so that it can be sent to a thread. */
export interface PricingTask {
  readonly found: readonly FoundFile[];
  readonly policies: readonly Policy[];
  readonly model: string | null;
  readonly groupBy: GroupBy;
  /** The configured models; null for the built-in ones alone. */
  readonly changes: CatalogueChanges | null;
  readonly excerpts: boolean;
  /** Whether every call is kept, for a page. */
  readonly keepsCalls: boolean;
  /** The counts that all threads share. */
  readonly cells: BigInt64Array<SharedArrayBuffer>;
}

/** The places of the shared counts. */
const cell = { next: 0, bytes: 1, files: 2, requests: 3 } as const;

export function createCells(): PricingTask["cells"] {
  const { length } = Object.keys(cell);
  return new BigInt64Array(new SharedArrayBuffer(length * BigInt64Array.BYTES_PER_ELEMENT));
}

export interface PricingProgress {
  readonly bytes: number;
  readonly files: number;
  readonly requests: number;
}

export function readCells({ cells }: Pick<PricingTask, "cells">): PricingProgress {
  const at = (place: number): number => Number(Atomics.load(cells, place));
  return { bytes: at(cell.bytes), files: at(cell.files), requests: at(cell.requests) };
}

export interface PricedFile {
  readonly index: number;
  readonly sums: Sums;
  readonly calls: readonly CallDetail[];
  /** What was assumed about earlier files. */
  readonly claims: Claims;
}

/** Gives each file as soon as it is priced. Several threads with the same cells never take the same file. */
export async function* priceFiles(
  task: PricingTask,
  onProgress?: () => void,
): AsyncGenerator<PricedFile> {
  const run = createRun();
  const price = await createPricing(task, run, onProgress);
  const take = (): number => Number(Atomics.add(task.cells, cell.next, 1n));
  for (let index = take(); index < task.found.length; index = take()) {
    const { sums, calls } = await price(index);
    Atomics.add(task.cells, cell.files, 1n);
    const priced = sums.total.requests + sums.automatic.requests + sums.billed.requests;
    Atomics.add(task.cells, cell.requests, BigInt(priced));
    yield { index, sums, calls, claims: run.takeClaims() };
  }
}

/** Reads and prices one file of the task after the other. */
export async function createPricing(
  { found, policies, model, groupBy, changes, excerpts, keepsCalls, cells }: PricingTask,
  run: Run,
  onProgress: () => void = () => undefined,
): Promise<(index: number) => Promise<Pick<PricedFile, "sums" | "calls">>> {
  const counter = await loadO200k();
  const catalogue = changes === null ? builtInCatalogue : createCatalogue(changes);
  const read = createRecordingReader({ counter, excerpts, catalogue }, run);
  const onBytes = (bytes: number): void => {
    Atomics.add(cells, cell.bytes, BigInt(bytes));
    onProgress();
  };
  return async (index) => {
    const file = found[index];
    assert(file !== undefined, `there is no file ${index} to price`);
    const calls: CallDetail[] = [];
    const onCall = (call: CallDetail): void => void calls.push(call);
    const options: ReplayOptions = { policies, model, groupBy, catalogue };
    try {
      const sums = await sumUp(read(file, onBytes), keepsCalls ? { ...options, onCall } : options);
      return { sums, calls };
    } catch (cause) {
      if (cause instanceof StrataError) throw cause;
      throw new Error(`${file.path} cannot be priced: ${messageOf(cause)}`, { cause });
    }
  };
}
