// `strata-context/gateway`: the gateway as an object to start in a program.
export {
  hashKey,
  newGatewayKey,
  type GatewayKey,
  type KeyBudget,
  type KeyRate,
} from "./admission/gateway-key.ts";
export type { ObservedCall } from "./observed-call.ts";
export {
  openGateway,
  type Gateway,
  type GatewayOptions,
  type GatewayRoutes,
  type UpstreamOptions,
} from "./program/open-gateway.ts";
