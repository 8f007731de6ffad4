// What the gateway knows of a call after it. The ledger stores it as it is, so its form is declared there.
import type { Conversation, GatewayCall } from "../core/ledger/gateway-call.ts";

export type ObservedCall = GatewayCall;
export type ConversationName = Conversation;

/** Takes calls. It never throws, and no exchange waits for it. */
export interface CallSink {
  take(call: ObservedCall): void;
}
