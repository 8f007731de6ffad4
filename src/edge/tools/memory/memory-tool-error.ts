// Why memory was not changed, for the model, with the text it needs for the next try.
import { countBytes } from "../../../core/layers/cut-middle.ts";
import { cutText } from "../../../core/layers/workspace-cut.ts";
import { memoryCaps, type MemoryFile } from "../../../core/memory/memory-file.ts";
import { describeRefusal, type MemoryRefusal } from "../../../core/memory/memory-refusal.ts";
import { ToolError } from "../../../core/tools/tool.ts";

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

type ChangedMeanwhile = Extract<MemoryRefusal, { readonly kind: "changed-meanwhile" }>;

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
