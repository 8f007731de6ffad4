// What the gateway knows of a call after it. The ledger stores it as it is, so its form is declared there.
import type { Conversation, GatewayCall } from "../core/ledger/gateway-call.ts";

export type ObservedCall = GatewayCall;
export type ConversationName = Conversation;

/** Takes calls. Never throws and never makes an exchange wait. */
export interface CallSink {
  take(call: ObservedCall): void;
}
