// Parses the body of a request. Malformed requests are refused here, invalid ones in validate-*.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { JsonFault, readJson, type JsonObject } from "../../json-source.ts";
import { modelOf } from "../model-version.ts";
import { findMark, readContent, type ReadBlock, type ReadMark } from "./read-blocks.ts";
import { fields, find, refuseExtras, type Place } from "./read-fields.ts";
import { readEffort, readOptions, type RequestOptions } from "./read-options.ts";
import { readTools, type ReadTool } from "./read-tools.ts";
import { extraInput, invalid, notSimulated } from "../refusal.ts";
import type { ApiVersion } from "../request-headers.ts";

export interface MessagesRequest {
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  readonly requestedModel: string;
  readonly facts: ModelFacts;
  readonly tools: readonly ReadTool[];
  readonly system: readonly ReadBlock[];
  readonly messages: readonly ReadMessage[];
  readonly automatic: ReadMark | null;
  readonly options: RequestOptions;
  /** Which of temperature, top_p and top_k were given, and whether with their default. */
  readonly sampling: readonly { readonly name: string; readonly isDefault: boolean }[];
}

export interface ReadMessage {
  readonly index: number;
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ReadBlock[];
  /** Visible for one turn only. */
  readonly clearsAtNextUser: boolean;
  /** Settings for the turns after it. A message with settings can be without content. */
  readonly outputConfig: JsonObject | null;
}

/** What is known of a request besides its body. */
export interface RequestCall {
  readonly version: ApiVersion;
  readonly betas: ReadonlySet<string>;
  readonly purpose: "create" | "count";
  /** On routes that name the model and the kind of answer in the path. */
  readonly addressed?: {
    readonly requestedModel: string;
    readonly facts: ModelFacts;
    readonly stream: boolean;
  };
  /** Where the same API has other models. */
  readonly findFacts?: (name: string) => ModelFacts;
  /** Members of the body that are read elsewhere. */
  readonly alsoTakes?: readonly string[];
}

export function readRequest(bodyText: string, call: RequestCall): MessagesRequest {
  return readMessages(readBody(bodyText), call);
}

/** Reads a body that is parsed already. */
export function readMessages(body: Place, call: RequestCall): MessagesRequest {
  const { version, betas, purpose, addressed, findFacts = modelOf, alsoTakes = [] } = call;
  refuseThread(body);
  const known = purpose === "create" ? createFields : countFields;
  for (const name of samplingFields) {
    if (version === "2026-10-21" && body.object.fields.has(name)) throw extraInput(name);
  }
  for (const name of addressed === undefined ? [] : ["model", "stream"]) {
    if (body.object.fields.has(name)) throw extraInput(name);
  }
  refuseExtras(body, alsoTakes.length === 0 ? known : new Set([...known, ...alsoTakes]));
  if (find(body, "mcp_servers") !== null) throw notSimulated("mcp_servers");
  const requestedModel = addressed?.requestedModel ?? fields.textAt(body, "model");
  const facts = addressed?.facts ?? findFacts(requestedModel);
  refuseUnoffered(body, facts);
  const options = readOptions(body, betas);
  const request: MessagesRequest = {
    version,
    betas,
    requestedModel,
    facts,
    tools: readTools(body),
    system: find(body, "system") === null ? [] : readContent(body, "system"),
    messages: fields
      .placesAt(body, "messages")
      .map((message, index) => readMessage(message, index, betas)),
    automatic: findMark(body),
    options: addressed === undefined ? options : { ...options, stream: addressed.stream },
    sampling: samplingFields.flatMap((name) => {
      const value = find(body, name);
      if (value === null) return [];
      const isDefault =
        name === "temperature" && value.kind === "number" && Number(value.source) === 1;
      return [{ name, isDefault }];
    }),
  };
  if (purpose === "create" && request.options.maxTokens === null)
    throw invalid("max_tokens: Field required");
  return request;
}

/** Fields that the route of the model does not have. */
function refuseUnoffered(body: Place, { cache }: ModelFacts): void {
  const offers: Readonly<Record<string, boolean>> = {
    cache_control: cache.markers?.requestLevel !== false,
    diagnostics: cache.diagnostics,
  };
  for (const [name, isOffered] of Object.entries(offers))
    if (!isOffered && body.object.fields.has(name)) throw extraInput(name);
}

export function readBody(bodyText: string): Place {
  try {
    const object = readJson(bodyText);
    if (object.kind !== "object") throw invalid("body: Input should be an object");
    return { object, path: "" };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const before = bodyText.slice(0, error.at).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    throw invalid(
      `The request body is not valid JSON: ${error.message}: line ${before.length} column ${column} (char ${error.at})`,
    );
  }
}

/** Where threads are not offered: ignoring the field would silently answer without the conversation. */
function refuseThread(body: Place): void {
  if (find(body, "thread") === null) return;
  throw invalid("thread: this request is not supported on a thread", {
    error_code: "thread_unsupported_request",
    unsupported: ["thread"],
  });
}

function readMessage(message: Place, index: number, betas: ReadonlySet<string>): ReadMessage {
  const role = fields.oneOfAt(message, "role", roles);
  refuseExtras(message, role === "system" ? systemMessageFields : messageFields);
  const needBeta = (name: string, ...allowed: readonly string[]): void => {
    if (find(message, name) === null || allowed.some((beta) => betas.has(beta))) return;
    throw extraInput(`${message.path}.${name}`);
  };
  needBeta(
    "output_config",
    "mid-conversation-output-config-2026-07-01",
    "per-turn-control-2026-07-01",
  );
  const outputConfig = fields.findPlace(message, "output_config");
  if (outputConfig !== null) readEffort(outputConfig);
  needBeta("clear_at", "mid-conversation-system-clear-at-2026-08-21");
  const clearAt = fields.findOneOf(message, "clear_at", ["next_user_message", "never"]);
  const isEmpty = find(message, "content") === null && outputConfig !== null;
  return {
    index,
    role,
    blocks: isEmpty ? [] : readContent(message, "content"),
    clearsAtNextUser: clearAt === "next_user_message",
    outputConfig: outputConfig?.object ?? null,
  };
}

const roles = ["user", "assistant", "system"] as const;
const messageFields: ReadonlySet<string> = new Set(["role", "content"]);
const systemMessageFields: ReadonlySet<string> = new Set([
  "role",
  "content",
  "clear_at",
  "output_config",
]);
const samplingFields = ["temperature", "top_p", "top_k"] as const;

const countFields: ReadonlySet<string> = new Set([
  "messages",
  "model",
  "cache_control",
  "compaction",
  "context_management",
  "mcp_servers",
  "output_config",
  "output_format",
  "speed",
  "system",
  "thinking",
  "tool_choice",
  "tools",
]);

const createFields: ReadonlySet<string> = new Set([
  ...countFields,
  ...samplingFields,
  "container",
  "diagnostics",
  "fallback_credit_token",
  "fallbacks",
  "inference_geo",
  "max_tokens",
  "metadata",
  "service_tier",
  "stop_sequences",
  "stream",
  "thread",
]);
