// What the writer's thread does for conversations that are shared: a ledger of its own, so that no batch of calls holds a lookup up.
import type {
  ConversationState,
  StateQuestion,
  SweptStates,
} from "../../core/ledger/conversation-state.ts";
import type { ConversationPrompt, WarmingCost } from "../../core/ledger/gateway-call.ts";
import type { Ledger } from "../../core/ledger/ledger.ts";
import { StrataError } from "../../core/strata-error.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";

export type StateTask =
  | { readonly do: "find states"; readonly question: StateQuestion }
  | { readonly do: "keep states"; readonly states: readonly ConversationState[] }
  /** What a call of a conversation sent. */
  | { readonly do: "read prompt"; readonly conversationId: string; readonly callId: string }
  | { readonly do: "sweep states"; readonly beforeMs: number }
  /** What gateways spent since then to keep caches warm. */
  | { readonly do: "list warming"; readonly sinceMs: number };

export type StateAnswer =
  | { readonly done: "find states"; readonly states: readonly ConversationState[] }
  | { readonly done: "keep states" }
  | { readonly done: "read prompt"; readonly prompt: ConversationPrompt | null }
  | ({ readonly done: "sweep states" } & SweptStates)
  | { readonly done: "list warming"; readonly calls: readonly WarmingCost[] };

const kinds: ReadonlySet<string> = new Set<StateTask["do"]>([
  "find states",
  "keep states",
  "read prompt",
  "sweep states",
  "list warming",
]);

export function isOfStates(kind: string): boolean {
  return kinds.has(kind);
}

export interface StateRunner {
  /** Several tasks may run at once. */
  run(task: StateTask): Promise<StateAnswer>;
  close(): Promise<void>;
}

export function createStateRunner(store: string): StateRunner {
  let opening: Promise<Ledger> | null = null;
  const close = async (): Promise<void> => {
    const opened = opening;
    opening = null;
    await opened?.then((ledger) => ledger.close()).catch(() => {});
  };
  return {
    run: async (task) => {
      const used = (opening ??= openLedger(store));
      try {
        return await runOn(await used, task);
      } catch (error) {
        // If the file was replaced or the server went away, the ledger is opened anew.
        if (opening === used) await close();
        throw error;
      }
    },
    close,
  };
}

async function runOn(ledger: Ledger, task: StateTask): Promise<StateAnswer> {
  switch (task.do) {
    case "find states":
      return { done: task.do, states: await ledger.findStates(task.question) };
    case "keep states":
      await ledger.keepStates(task.states);
      return { done: task.do };
    case "read prompt":
      return { done: task.do, prompt: await readPrompt(ledger, task.conversationId, task.callId) };
    case "sweep states":
      return { done: task.do, ...(await ledger.sweepStates(task.beforeMs)) };
    case "list warming":
      return { done: task.do, calls: await ledger.listWarming(task.sinceMs) };
  }
}

/** Null for a call that is not recorded yet. */
async function readPrompt(
  ledger: Ledger,
  conversationId: string,
  callId: string,
): Promise<ConversationPrompt | null> {
  try {
    return await ledger.readPrompt(conversationId, callId);
  } catch (error) {
    if (error instanceof StrataError && error.code === "not-found") return null;
    throw error;
  }
}
