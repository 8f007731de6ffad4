// Reads a request that another cloud carries to a model: its version stands in the body, and its model in the path.
import type { ModelFacts } from "../../core/models/model-facts.ts";
import type { JsonObject } from "../json-source.ts";
import { fields, find, type Place } from "./request/read-fields.ts";
import { readMessages, type MessagesRequest } from "./request/read-request.ts";
import { invalid } from "./refusal.ts";
import { versions, type ApiVersion } from "./request-headers.ts";

export interface Carrier {
  readonly facts: ModelFacts;
  readonly purpose: "create" | "count";
  readonly stream: boolean;
  /** The cloud's own name for the first version. */
  readonly firstVersion: string;
  /** Betas that came in a header. */
  readonly headerBetas: ReadonlySet<string>;
  /** Fields that the cloud reads itself. */
  readonly own: readonly string[];
}

export function readCarried(body: Place, carrier: Carrier): MessagesRequest {
  const { facts, purpose, stream, headerBetas } = carrier;
  const betas = new Set([...headerBetas, ...readBetaList(body)]);
  const version = readVersion(body, carrier);
  const own = new Set(["anthropic_version", "anthropic_beta", ...carrier.own]);
  const kept = [...body.object.fields].filter(([name]) => !own.has(name));
  const object: JsonObject = { kind: "object", fields: new Map(kept) };
  const addressed = { requestedModel: facts.id, facts, stream };
  return readMessages({ object, path: "" }, { version, betas, purpose, addressed });
}

/** What only shapes a reply does not change a count. */
export const replyFields: readonly string[] = [
  "max_tokens",
  "metadata",
  "service_tier",
  "stop_sequences",
  "temperature",
  "top_k",
  "top_p",
];

/** Newer clients send the version of the header. A count needs none. */
function readVersion(body: Place, { firstVersion, purpose }: Carrier): ApiVersion {
  if (purpose === "count" && find(body, "anthropic_version") === null) return "2023-06-01";
  const given = fields.oneOfAt(body, "anthropic_version", [firstVersion, ...versions]);
  return versions.find((each) => each === given) ?? "2023-06-01";
}

/** The betas that a body names. */
export function readBetaList(body: Place): readonly string[] {
  return (fields.findList(body, "anthropic_beta") ?? []).map((item, index) => {
    if (item.kind === "string") return item.text;
    throw invalid(`anthropic_beta.${index}: Input should be a valid string`);
  });
}
