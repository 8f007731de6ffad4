// Golden records: what today's engine sends, tells and stores, byte for byte, so that a rewrite can be compared with it.
// `UPDATE_GOLDEN=1 npx vitest run test/golden` writes the records anew; look at what changed in them before committing.
// Everything of the product that the records are made with is named here, so that a renaming touches this file alone.
export { plantedKey } from "../../harness/planted-key.ts";
export {
  anthropicEndpoint,
  anthropicMessages,
  cheapCounter,
  createCatalogue,
  createDispatcher,
  createEngine,
  createEventBus,
  createProvider,
  defaultCompactionSettings,
  findPolicy,
  openaiChat,
  openaiEndpoint,
  openaiResponses,
  openWorkspaceWorld,
  resolveModel,
  sendsNothing,
  ToolError,
  toToolDefinition,
  withDelegation,
  type CallEntry,
  type DelegationOptions,
  type Engine,
  type EngineConfig,
  type EngineDeps,
  type EngineSession,
  type StreamPart,
  type EventBus,
  type Ledger,
  type OwnCall,
  type Policy,
  type Protocol,
  type Provider,
  type Reached,
  type RunOptions,
  type StrataEvent,
  type Tool,
  type TurnHandle,
  type TurnPart,
  type TurnResult,
  type World,
} from "../../src/index.ts";
export { createTokenCounter, eventCatalogue } from "../../src/core-index.ts";
export { openSqliteLedger } from "../../src/edge/stores/sqlite/index.ts";
export { strataMiddleware } from "../../src/integrations/ai-sdk/index.ts";
export {
  createScripted,
  createSimulator,
  createSummariser,
  type FaultSpec,
  type Model,
  type Prompt,
  type Reply,
  type ScriptStep,
  type Simulator,
} from "../../src/simulator/index.ts";
export { openNodeServer } from "../../src/simulator/server/node-server.ts";
