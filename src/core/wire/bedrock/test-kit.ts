// Models and bodies for the tests of both Bedrock protocols.
import type { CachePlan } from "../../cache/cache-plan.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { bodyText, type EncodedRequest } from "../encoded-request.ts";
import type { CallOptions, Protocol } from "../protocol.ts";
import { assemblyOn, plainOptions, planOf, type Setting } from "../test-kit.ts";

export { planOf, say, toolUse } from "../test-kit.ts";

/** Takes a temperature, and can be forced to call a tool. */
export const haiku: ModelFacts = resolveModel("bedrock/claude-haiku-4-5").facts;
/** Always thinks. */
export const sonnet: ModelFacts = resolveModel("bedrock/claude-sonnet-5-5").facts;

export interface Encoding extends Setting {
  readonly model?: ModelFacts;
  readonly plan?: CachePlan;
  readonly options?: Partial<CallOptions>;
}

export function encodeOn(
  protocol: Protocol,
  { model = haiku, plan = planOf(), options = {}, ...setting }: Encoding,
): EncodedRequest {
  const assembly = assemblyOn({ protocol, model }, setting);
  return protocol.encode({ assembly, plan, model, options: { ...plainOptions, ...options } });
}

export function bodyOn(protocol: Protocol, encoding: Encoding): string {
  return bodyText(encodeOn(protocol, encoding).pieces);
}
