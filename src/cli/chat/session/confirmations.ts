// Decides whether a tool may run: the user at the terminal, or the options the chat was started with.
import type { Confirm, ConfirmationRequest } from "../../../edge/tools/dispatch/confirmation.ts";
import { toPlainLine } from "../words/plain-text.ts";
import type { Question } from "../state/state.ts";
import { previewUse } from "../words/tool-words.ts";
import type { ChatEvent } from "../state/update.ts";

export type Answer = "yes" | "no" | "always";

export interface Confirmations {
  readonly confirm: Confirm;
  /** Answers the question with that id. */
  readonly answer: (id: string, answer: Answer) => void;
}

export interface ConfirmationsSetup {
  /** `nobody`: tools that need a confirmation do not run. */
  readonly whom: "person" | "nobody" | "everything is allowed";
  readonly onAsked: (question: Question) => void;
  /** Called when answers begin to count. */
  readonly onReady: (id: string) => void;
  readonly onSettled: (id: string) => void;
  /** Called when a tool was refused because there is no terminal to ask on. */
  readonly onRefused: (toolName: string) => void;
}

/** Keys typed just as a question appears are not an answer to it. */
const readyAfterMs = 600;

interface Waiting {
  readonly toolName: string;
  readonly resolve: (answer: Answer) => void;
}

export function createConfirmations(setup: ConfirmationsSetup): Confirmations {
  const { whom, onAsked, onReady, onSettled, onRefused } = setup;
  const waiting = new Map<string, Waiting>();
  const always = new Set<string>();
  let askedCount = 0;
  const ask = async (request: ConfirmationRequest): Promise<boolean> => {
    const { toolName, input, signal } = request;
    askedCount += 1;
    const id = String(askedCount);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const giveUp = (): void => resolve("no");
    waiting.set(id, { toolName, resolve });
    signal.addEventListener("abort", giveUp, { once: true });
    const preview = previewUse(input);
    onAsked({ id, toolName: toPlainLine(toolName), preview, isReady: false });
    const timer = setTimeout(() => onReady(id), readyAfterMs);
    try {
      if (signal.aborted) return false;
      const answer = await promise;
      if (answer === "always") always.add(toolName);
      return answer !== "no";
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      waiting.delete(id);
      onSettled(id);
    }
  };
  return {
    confirm: async (request) => {
      const { toolName } = request;
      if (whom === "everything is allowed" || always.has(toolName) || isUndone(toolName))
        return true;
      if (whom === "person") return ask(request);
      onRefused(toPlainLine(toolName));
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

/** Questions, answers and refusals as events of a chat. */
export function confirmByTelling(
  whom: ConfirmationsSetup["whom"],
  tell: (event: ChatEvent) => void,
): Confirmations {
  return createConfirmations({
    whom,
    onAsked: (question) => tell({ type: "asked", question }),
    onReady: (id) => tell({ type: "ready", id }),
    onSettled: (id) => tell({ type: "answered", id }),
    onRefused: (name) => {
      const text = `${name} was not allowed: there is no terminal to ask on. --yes allows every tool.`;
      tell({ type: "noticed", level: "warning", text });
    },
  });
}

/** What an agent remembers is kept in a journal, and `strata memory undo` can undo it. */
function isUndone(toolName: string): boolean {
  return memoryTools.includes(toolName);
}

/** Exact names: other tools may have the same prefix. */
const memoryTools: readonly string[] = ["memory_add", "memory_replace", "memory_consolidate"];
