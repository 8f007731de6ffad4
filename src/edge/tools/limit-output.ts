// What a tool returned → what the model is shown of it; the rest is kept where the read tool finds it.
import { countBytes, cutOutput, type LeftOut } from "../../core/tools/cut-output.ts";
import { ToolError, type ToolOutput } from "../../core/tools/tool.ts";
import type { KeepOutput } from "./keep-output.ts";

export interface LimitedOutput {
  readonly text: string;
  /** Of the whole output. */
  readonly bytes: number;
}

export async function limitOutput(
  toolUseId: string,
  output: ToolOutput,
  bytesMax: number,
  options: {
    readonly keepOutput?: KeepOutput;
    readonly onProblem?: (problem: unknown) => void;
  },
): Promise<LimitedOutput> {
  // Tools may come from plain JavaScript.
  const given: unknown = output?.text;
  if (typeof given !== "string") throw new ToolError("execution_error", "the tool gave no text");
  const whole = given.toWellFormed();
  const bytes = countBytes(whole);
  if (bytes <= bytesMax) return { text: whole, bytes };
  const path = await keep(toolUseId, whole, options);
  const { text } = cutOutput(whole, bytesMax, (left) => describe(left, path));
  return { text, bytes };
}

async function keep(
  toolUseId: string,
  text: string,
  { keepOutput, onProblem }: Parameters<typeof limitOutput>[3],
): Promise<string | null> {
  try {
    return (await keepOutput?.(toolUseId, text)) ?? null;
  } catch (error) {
    onProblem?.(error);
    return null;
  }
}

function describe({ bytes, bytesOfAll, fromLine, toLine }: LeftOut, path: string | null): string {
  const what = `${bytes} of ${bytesOfAll} bytes are left out here, lines ${fromLine} to ${toLine}`;
  return path === null
    ? `${what}; they were not kept. Ask for less, or for a part`
    : `${what}. The whole output is in ${path}: read it with offset ${fromLine}`;
}
