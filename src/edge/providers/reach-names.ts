// The name of a model at its provider: providers and gateways spell the same model differently.
import type { Catalogue } from "../../core/models/catalogue.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { CallToEncode, CompactionToEncode, Protocol } from "../../core/wire/protocol.ts";

/** The configured name of a model, looked up by any spelling of it; null for its own. */
export function findModelName(
  names: ReadonlyMap<string, string>,
  { id }: Pick<ModelFacts, "id">,
  catalogue: Catalogue,
): string | null {
  for (const [given, name] of names) {
    if (given === id || findModel(given, catalogue)?.facts.id === id) return name;
  }
  return null;
}

/** The same protocol with these model names as defaults. They are looked up for each call. */
export function withModelNames(
  protocol: Protocol,
  nameOf: (model: ModelFacts) => string | null,
): Protocol {
  return changingCalls(protocol, (call) => {
    const modelName = call.options.modelName ?? nameOf(call.model);
    return modelName === null ? call : { ...call, options: { ...call.options, modelName } };
  });
}

/** The same protocol for calls that are changed before they are encoded. */
export function changingCalls(
  protocol: Protocol,
  change: <Call extends CallToEncode>(call: Call) => Call,
): Protocol {
  const { compaction } = protocol;
  return {
    ...protocol,
    encode: (call) => protocol.encode(change(call)),
    ...(compaction === undefined
      ? {}
      : {
          compaction: {
            ...compaction,
            encode: (call: CompactionToEncode) => compaction.encode(change(call)),
          },
        }),
  };
}
