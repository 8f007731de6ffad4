// The task of a writer, and the events it reports.

export type WriterEvent =
  | { readonly at: "ready" }
  | { readonly at: "try"; readonly n: number; readonly entry: string | null }
  | {
      readonly at: "done";
      readonly n: number;
      readonly entry: string | null;
      readonly before: string;
      readonly after: string;
    }
  | { readonly at: "refused"; readonly n: number }
  | { readonly at: "full" }
  | { readonly at: "problem"; readonly message: string };

export interface WriterTask {
  readonly workspace: string;
  /** Six letters or digits. */
  readonly name: string;
  readonly seed: number;
  readonly lifetimeMs: number;
  /** As on another machine: others cannot see whether it is alive. */
  readonly isElsewhere: boolean;
  readonly entriesMax: number;
  readonly store: StoreKind;
}

/** The store under test, and three that must fail. */
export type StoreKind = "strata" | "plain" | "unlocked" | "unfenced";

export const storeKinds: readonly StoreKind[] = ["strata", "plain", "unlocked", "unfenced"];
