// Reads what Converse says about the reply: limits, sampling, format, effort, tier.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import { JsonFault, jsonText, readJson, type Json } from "../json-source.ts";
import {
  constraint,
  fields,
  find,
  objectOf,
  optional,
  optionalText,
  type Place,
} from "./read-fields.ts";
import { invalid, notSimulated } from "./refusal.ts";

export interface ReadInference {
  /** As fields of the model's own API. */
  readonly fields: Readonly<Record<string, Json | undefined>>;
  /** Null if the request names none. */
  readonly tier: (typeof tiers)[number] | null;
  readonly latency: (typeof latencies)[number] | null;
}

const tiers = ["default", "flex", "priority", "reserved"] as const;
const latencies = ["standard", "optimized"] as const;

export function readInference(
  body: Place,
  facts: ModelFacts,
  purpose: "create" | "count",
): ReadInference {
  const config = fields.findPlace(body, "inferenceConfig");
  const tier = fields.findPlace(body, "serviceTier");
  const performance = fields.findPlace(body, "performanceConfig");
  return {
    fields: {
      max_tokens: purpose === "create" ? readLimit(config, facts) : undefined,
      ...(config === null
        ? {}
        : {
            temperature: optional(config, "temperature"),
            top_p: optional(config, "topP"),
            stop_sequences: optional(config, "stopSequences"),
          }),
      output_config: readOutput(body),
    },
    tier: tier === null ? null : fields.oneOfAt(tier, "type", tiers),
    latency: performance === null ? null : fields.findOneOf(performance, "latency", latencies),
  };
}

/** The model's own limit if the request sets none. */
function readLimit(config: Place | null, { outputTokensMax }: ModelFacts): Json | undefined {
  const asked = config === null ? null : fields.findInteger(config, "maxTokens");
  const limit = asked ?? outputTokensMax;
  if (limit === null) return undefined;
  if (limit < 1)
    throw constraint(
      `'${limit}'`,
      "inferenceConfig.maxTokens",
      "Member must have value greater than or equal to 1",
    );
  if (outputTokensMax !== null && limit > outputTokensMax)
    throw invalid(
      `The maximum tokens you requested exceeds the model limit of ${outputTokensMax}. Try again with a maximum tokens value that is lower than ${outputTokensMax}.`,
    );
  return { kind: "number", source: String(limit) };
}

function readOutput(body: Place): Json | undefined {
  const output = fields.findPlace(body, "outputConfig");
  if (output === null) return undefined;
  const format = fields.findPlace(output, "textFormat");
  return objectOf({
    effort: optionalText(fields.findText(output, "effort")),
    format: format === null ? undefined : readFormat(format),
  });
}

/** The schema is JSON within a text. */
function readFormat(format: Place): Json {
  fields.oneOfAt(format, "type", ["json_schema"]);
  const schema = fields.placeAt(fields.placeAt(format, "structure"), "jsonSchema");
  if (find(schema, "schema") === null) throw notSimulated(`${format.path} without a schema`);
  try {
    return objectOf({
      type: jsonText("json_schema"),
      schema: readJson(fields.textAt(schema, "schema")),
    });
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw invalid("outputConfig.textFormat.structure.jsonSchema.schema: this is not valid JSON");
  }
}
