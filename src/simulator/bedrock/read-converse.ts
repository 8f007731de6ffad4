// Reads the body of Converse as the request of the model's own API: AWS checks a conversation, then translates it.
import { JsonFault, jsonText, readJson, type Json, type JsonObject } from "../json-source.ts";
import { readBetaList, replyFields } from "../anthropic/carried-request.ts";
import { readMessages, type MessagesRequest } from "../anthropic/request/read-request.ts";
import { Refusal } from "../anthropic/refusal.ts";
import type { AddressedModel } from "./model-of.ts";
import { createCollector, type Marked } from "./cache-points.ts";
import { readContent, readGuarded, readText } from "./read-content.ts";
import { readInference, type ReadInference } from "./read-inference.ts";
import { readToolConfig } from "./read-tool-config.ts";
import { constraint, fields, find, listOf, memberOf, objectOf, type Place } from "./read-fields.ts";
import { AwsRefusal, invalid, notSimulated, passedOn } from "./refusal.ts";

export interface ReadConverse extends Pick<ReadInference, "tier" | "latency"> {
  readonly request: MessagesRequest;
  /** Pointers into the model's own reply, to be repeated. */
  readonly replyPaths: readonly string[];
}

export function readConverse(
  body: Place,
  { facts }: AddressedModel,
  call: { readonly purpose: "create" | "count"; readonly stream: boolean },
): ReadConverse {
  if (find(body, "promptVariables") !== null) throw notSimulated("promptVariables");
  const messages = readConversation(body);
  const system = readSystem(body);
  const toolConfig = fields.findPlace(body, "toolConfig");
  const tools = toolConfig === null ? null : readToolConfig(toolConfig);
  if (tools === null && messages.some(({ hasTools }) => hasTools))
    throw invalid(
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    );
  const hasMark = [...messages, system, ...(tools === null ? [] : [tools])].some(
    (each) => each.hasMark,
  );
  if (hasMark && facts.cache.markers === null)
    throw new AwsRefusal(
      "AccessDeniedException",
      "You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information.",
    );
  const inference = readInference(body, facts, call.purpose);
  const own = objectOf({
    ...inference.fields,
    system: system.blocks.length === 0 ? undefined : listOf(system.blocks),
    tools: tools === null ? undefined : listOf(tools.blocks),
    tool_choice: tools?.toolChoice,
    messages: listOf(messages.map(({ json }) => json)),
  });
  const { merged, betas } = mergeFields(
    own,
    fields.findPlace(body, "additionalModelRequestFields"),
  );
  const { tier, latency } = inference;
  return {
    request: passingOn(() =>
      readMessages(
        { object: call.purpose === "count" ? withoutReply(merged) : merged, path: "" },
        {
          version: "2023-06-01",
          betas: new Set([...betas, ...converseBetas]),
          purpose: call.purpose,
          addressed: { requestedModel: facts.id, facts, stream: call.stream },
        },
      ),
    ),
    replyPaths: readReplyPaths(body),
    tier,
    latency,
  };
}

/** What the model refuses of a translated request, AWS passes on. */
export function passingOn<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    if (error instanceof Refusal) throw passedOn(error, "converse");
    throw error;
  }
}

/** What Converse has fields of its own for needs no beta from the client. */
const converseBetas: readonly string[] = ["mid-conversation-tool-changes-2026-07-01"];

/** The body of any request to AWS. */
export function readBody(bodyText: string): Place {
  try {
    const object = readJson(bodyText === "" ? "{}" : bodyText);
    if (object.kind === "object") return { object, path: "" };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
  }
  throw new AwsRefusal("SerializationException", "The request body is not a JSON object");
}

interface ReadTurn extends Pick<Marked, "hasMark"> {
  readonly json: JsonObject;
  readonly hasTools: boolean;
}

const roles = ["user", "assistant", "system"] as const;

function readConversation(body: Place): readonly ReadTurn[] {
  const places = fields.placesAt(body, "messages");
  if (places.length === 0)
    throw constraint("'[]'", "messages", "Member must have length greater than or equal to 1");
  let before: string | null = null;
  let uses: readonly string[] = [];
  return places.map((place, index) => {
    const role = fields.oneOfAt(place, "role", roles);
    const content = readContent(place, `messages.${index}.content`);
    if (content.blocks.length === 0)
      throw invalid(
        `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
      );
    if (role !== "system") {
      validateRole(role, before);
      validateResults(index, content.results, uses);
      before = role;
      ({ uses } = content);
    }
    return {
      json: objectOf({ role: jsonText(role), content: listOf(content.blocks) }),
      hasMark: content.hasMark,
      hasTools: content.uses.length + content.results.length > 0,
    };
  });
}

function validateRole(role: string, before: string | null): void {
  if (before === null && role !== "user")
    throw invalid(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  if (before === role)
    throw invalid(
      "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
}

function validateResults(index: number, results: readonly string[], uses: readonly string[]): void {
  const missing = uses.filter((id) => !results.includes(id));
  if (missing.length > 0)
    throw invalid(
      `Expected toolResult blocks at messages.${index}.content for the following Ids: ${missing.join(", ")}`,
    );
  if (results.length > uses.length)
    throw invalid(
      `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
    );
}

function readSystem(body: Place): Marked {
  const collector = createCollector("system");
  for (const [index, place] of (fields.findPlaces(body, "system") ?? []).entries()) {
    const at = `system.${index}`;
    const member = memberOf(place, at, "SystemContentBlock", [
      "text",
      "guardContent",
      "cachePoint",
    ]);
    if (member.kind === "cachePoint") collector.mark(member);
    else
      collector.add(
        member.kind === "text" ? readText(member, "SystemContentBlock") : readGuarded(member),
        member.kind,
      );
  }
  return collector.result();
}

/** Fields of the model's own API are added to the translated ones; lists of tools are joined. */
function mergeFields(
  own: JsonObject,
  extra: Place | null,
): { readonly merged: JsonObject; readonly betas: readonly string[] } {
  if (extra === null) return { merged: own, betas: [] };
  const merged = new Map<string, Json>(own.fields);
  for (const [name, value] of extra.object.fields) {
    const before = merged.get(name);
    if (name === "anthropic_beta") continue;
    merged.set(
      name,
      name === "tools" && value.kind === "list" && before?.kind === "list"
        ? listOf([...before.items, ...value.items])
        : value,
    );
  }
  return {
    merged: { kind: "object", fields: merged },
    betas: passingOn(() => readBetaList(extra)),
  };
}

function withoutReply({ fields: all }: JsonObject): JsonObject {
  const kept = [...all].filter(([name]) => !replyFields.includes(name));
  return { kind: "object", fields: new Map(kept) };
}

function readReplyPaths(body: Place): readonly string[] {
  return (fields.findList(body, "additionalModelResponseFieldPaths") ?? []).map((item) => {
    if (item.kind === "string" && item.text.startsWith("/")) return item.text;
    throw invalid("additionalModelResponseFieldPaths: a path must be a JSON Pointer");
  });
}
