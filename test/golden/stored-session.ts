// Sessions that were stored before: where they are, and what they are called.
import { sides, type Side } from "./sides.ts";

export const storedSession = "stored";

export function storedFile(name: string): URL {
  return new URL(`stored/${name}`, import.meta.url);
}

export interface StoredCase {
  readonly kind: "sqlite" | "export";
  readonly side: Side;
  readonly record: string;
}

export const storedCases: readonly StoredCase[] = (["sqlite", "export"] as const).flatMap((kind) =>
  sides.map((side) => ({ kind, side, record: `stored-${kind}.${side.name}` })),
);
