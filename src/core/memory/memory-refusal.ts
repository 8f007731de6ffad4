// Why memory was not changed, and what to do about it.
import type { ContentHash } from "../hash.ts";
import type { MemoryFile } from "./memory-file.ts";

/** The list is closed: a new reason is a decision. */
export type MemoryRefusal =
  | { readonly kind: "entry-blank" }
  | { readonly kind: "entry-known"; readonly line: number }
  | { readonly kind: "old-blank" }
  | { readonly kind: "file-empty" }
  /** `old` must occur once. */
  | { readonly kind: "old-count"; readonly count: number }
  | {
      readonly kind: "over-hard-cap";
      readonly attemptedBytes: number;
      readonly hardBytes: number;
    }
  /** The caller wants to replace the whole text but has not seen all of it. */
  | {
      readonly kind: "changed-meanwhile";
      readonly currentHash: ContentHash;
      readonly currentText: string;
    }
  /** Below the soft cap, and more than half would be lost. */
  | {
      readonly kind: "drop-unconfirmed";
      readonly beforeBytes: number;
      readonly afterBytes: number;
    };

/** Does not include the file's text. */
export function describeRefusal(file: MemoryFile, refusal: MemoryRefusal): string {
  switch (refusal.kind) {
    case "entry-blank":
      return "the entry is blank; nothing was added";
    case "entry-known":
      return `${file} says this already, in line ${refusal.line}; nothing was added`;
    case "old-blank":
      return "`old` is empty; give the text to be replaced";
    case "file-empty":
      return `${file} is empty, so there is nothing to replace; add an entry instead`;
    case "old-count":
      return refusal.count === 0
        ? `\`old\` occurs 0 times in ${file}; give it exactly as it stands there`
        : `\`old\` occurs ${refusal.count} times in ${file}; give more of the text around it, so that it occurs once`;
    case "over-hard-cap":
      return (
        `${file} would have ${refusal.attemptedBytes} bytes, and its hard cap is ${refusal.hardBytes}; ` +
        "it is unchanged. Consolidate it first: keep what still matters, in fewer words"
      );
    case "changed-meanwhile":
      return (
        `${file} was changed elsewhere and is left as it is; ` +
        `the hash of what it holds now is ${refusal.currentHash}. ` +
        "Read it, take what is new into the consolidated text, and try again"
      );
    case "drop-unconfirmed":
      return (
        `this would take ${file} from ${refusal.beforeBytes} to ${refusal.afterBytes} bytes, ` +
        "more than half of it gone, though it is below its soft cap; it is unchanged"
      );
  }
}
