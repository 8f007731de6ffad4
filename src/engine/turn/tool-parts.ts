// Emits which tools run and how each ended, for a turn's readers.
import type { ToolResultBlock, ToolUseBlock } from "../../core/message/message.ts";
import type { RunTools } from "./answer-tools.ts";
import type { TurnPart } from "./turn-handle.ts";

export function watchTools(runTools: RunTools, tell: (part: TurnPart) => void): RunTools {
  return async (uses, call) => {
    for (const use of uses) tell({ ...aboutUse(use), status: "running", use });
    try {
      const messages = await runTools(uses, call);
      const results = new Map(
        messages.flatMap(({ content }) =>
          content.flatMap((block) =>
            block.type === "tool_result" ? [[block.toolUseId, block] as const] : [],
          ),
        ),
      );
      for (const use of uses) tell(settled(use, results.get(use.id)));
      return messages;
    } catch (error) {
      for (const use of uses) tell(settled(use, undefined));
      throw error;
    }
  };
}

function aboutUse({ id, name }: ToolUseBlock): Pick<ToolStatus, "type" | "toolUseId" | "name"> {
  return { type: "tool", toolUseId: id, name };
}

type ToolStatus = Extract<TurnPart, { readonly type: "tool" }>;

/** A use without a result is answered with an error by the engine. */
function settled(use: ToolUseBlock, result: ToolResultBlock | undefined): TurnPart {
  const isWell = result !== undefined && !result.isError;
  return {
    ...aboutUse(use),
    status: isWell ? "succeeded" : "failed",
    ...(result === undefined ? {} : { result }),
  };
}
