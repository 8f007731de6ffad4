// Decides whether a tool may run: the user at the terminal, or the options the chat was started with.
import type { Confirm, ConfirmationRequest } from "../../../edge/tools/dispatch/confirmation.ts";
import { toPlainLine } from "../words/plain-text.ts";
import { previewUse } from "../words/tool-words.ts";
import { noticeOf, type Emit } from "../state/update.ts";

export type Answer = "yes" | "no" | "always";

export interface Confirmations {
  readonly confirm: Confirm;
  /** Answers the question with that id. */
  readonly answer: (id: string, answer: Answer) => void;
}

/** What happens to a tool that needs a confirmation. */
export type Permission = "ask" | "refuse" | "allow";

/** Keys typed just as a question appears are not an answer to it. */
const readyAfterMs = 600;

export function createConfirmations(permission: Permission, emit: Emit): Confirmations {
  const waiting = new Map<
    string,
    { readonly toolName: string; readonly resolve: (answer: Answer) => void }
  >();
  const always = new Set<string>();
  let askedCount = 0;
  const ask = async ({ toolName, input, signal }: ConfirmationRequest): Promise<boolean> => {
    askedCount += 1;
    const id = String(askedCount);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const giveUp = (): void => resolve("no");
    waiting.set(id, { toolName, resolve });
    signal.addEventListener("abort", giveUp, { once: true });
    const name = toPlainLine(toolName);
    const question = { id, toolName: name, preview: previewUse(input), isReady: false };
    emit({ type: "asked", question });
    const timer = setTimeout(() => emit({ type: "ready", id }), readyAfterMs);
    try {
      if (signal.aborted) return false;
      const answer = await promise;
      if (answer === "always") always.add(toolName);
      return answer !== "no";
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      waiting.delete(id);
      emit({ type: "answered", id });
    }
  };
  return {
    confirm: async (request) => {
      const { toolName } = request;
      if (permission === "allow" || always.has(toolName)) return true;
      if (undoableTools.includes(toolName)) return true;
      if (permission === "ask") return ask(request);
      const text = `${toPlainLine(toolName)} was not allowed: there is no terminal to ask on. --yes allows every tool.`;
      emit(noticeOf("warning", text));
      return false;
    },
    answer: (id, answer) => {
      const answered = waiting.get(id);
      answered?.resolve(answer);
      if (answer !== "always") return;
      // Also answers waiting questions about the same tool.
      for (const { toolName, resolve } of waiting.values()) {
        if (toolName === answered?.toolName) resolve("yes");
      }
    },
  };
}

/** `strata memory undo` can undo what they do. Exact names: other tools may have the same prefix. */
const undoableTools: readonly string[] = ["memory_add", "memory_replace", "memory_consolidate"];
