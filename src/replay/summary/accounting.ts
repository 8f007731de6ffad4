// Where every file and every request of a replay went.
import { countUp, type Sums } from "../books.ts";

export interface Accounting {
  readonly files: Places;
  readonly requests: Places;
  /** Files of which nothing was used, by the reason that was given first. */
  readonly unusedFiles: readonly { readonly reason: string; readonly count: number }[];
  /** Requests that were read and not used. Lines that are no request are counted in `skipped`. */
  readonly unusedRequests: readonly { readonly reason: string; readonly count: number }[];
}

/** A file is counted where its first kind of request is, in this order. */
export interface Places {
  readonly all: number;
  /** Under every policy. */
  readonly compared: number;
  /** At providers that take no markers. */
  readonly automatic: number;
  /** As billed, because no prompt is recorded. */
  readonly billed: number;
  readonly unused: number;
}

export function toAccounting({ files, accounts, leftOut }: Sums): Accounting {
  const requests = noPlaces();
  const byFile = new Map<string, Writable<Places>>();
  for (const { file, requests: used, unused } of accounts.values()) {
    const own = byFile.get(file) ?? noPlaces();
    byFile.set(file, own);
    for (const sums of [requests, own]) {
      sums.compared += used.compared;
      sums.automatic += used.automatic;
      sums.billed += used.billed;
      sums.unused += unused;
      sums.all += used.compared + used.automatic + used.billed + unused;
    }
  }
  const places = noPlaces();
  const reasons = new Map<string, number>();
  for (const [file, why] of files) {
    const kind = kindOf(byFile.get(file));
    places.all += 1;
    places[kind] += 1;
    if (kind === "unused") countUp(reasons, why.keys().next().value ?? "it holds no request");
  }
  return {
    files: places,
    requests,
    unusedFiles: toCounts(reasons),
    unusedRequests: toCounts(leftOut),
  };
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

function noPlaces(): Writable<Places> {
  return { all: 0, compared: 0, automatic: 0, billed: 0, unused: 0 };
}

function kindOf(own: Places | undefined): Exclude<keyof Places, "all"> {
  if (own === undefined) return "unused";
  return (["compared", "automatic", "billed"] as const).find((kind) => own[kind] > 0) ?? "unused";
}

export function toCounts(
  counts: ReadonlyMap<string, number>,
): { readonly reason: string; readonly count: number }[] {
  return [...counts].map(([reason, count]) => ({ reason, count }));
}
