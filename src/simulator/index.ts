// `strata-context/simulator`: providers to test your agent against.
export { createAgent, type AgentOptions } from "./behaviours/agent.ts";
export { createEcho } from "./behaviours/echo.ts";
export { loadScript, parseScript } from "./behaviours/load-script.ts";
export {
  createScripted,
  type Condition,
  type ConditionFields,
  type ScriptedCall,
  type ScriptStep,
} from "./behaviours/scripted.ts";
export { createSummariser } from "./behaviours/summariser.ts";
export { exampleAwsKey, type AwsKey } from "./bedrock/sigv4.ts";
export type {
  Bill,
  BilledMarker,
  Billing,
  EntryView,
  MarkerOutcome,
  OpenBill,
  Reason,
  StoredPrefix,
  StoredPrefixes,
  StoredView,
} from "./billing/bill.ts";
export type {
  BillableBlock,
  BillableMarker,
  BillableRequest,
  BilledTier,
  Lifetime,
} from "./billing/billable-request.ts";
export { createBilling } from "./billing/billing.ts";
export { createGrowingPrompt, type GrowingPrompt } from "./billing/growing-prompt.ts";
export { stingyBilling, type BillingOptions } from "./billing/options.ts";
export { describeCall, describeReason, type Call, type CallOutcome } from "./call-ledger.ts";
export { createVirtualClock, type Clock } from "./clock.ts";
export type { Latency } from "./server/deliver.ts";
export type { Model, Prompt, PromptTool, PromptTurn, Reply, ReplyPart } from "./prompt.ts";
export type { ListenOptions, OpenServer } from "./server/node-server.ts";
export type { FaultSpec } from "./parse-faults.ts";
export { createSimulator, type Simulator, type SimulatorOptions } from "./simulator.ts";
export type { CallRecord } from "./surface.ts";
export type { OpenrouterOptions } from "./openrouter/index.ts";
export { vendorPath, type LocalServer } from "./vendors/index.ts";
