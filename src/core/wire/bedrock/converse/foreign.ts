// Recognises and reads Converse requests of any client. A cache point is a marker on the block before it.
import type { PromptRole } from "../../../assembly/prompt-block.ts";
import * as json from "../../../message/json-tree.ts";
import { lifetimes } from "../../../message/usage.ts";
import { readMessagesSettings } from "../../anthropic-messages/foreign-settings.ts";
import type { ForeignReader, ModelAbilities } from "../../foreign/foreign-reader.ts";
import {
  endMessage,
  type BlockDraft,
  type ReadShape,
  type StrayMarker,
} from "../../foreign/foreign-request.ts";
import {
  readByElements,
  type GrowingReader,
  type ReadFrame,
} from "../../foreign/growing-reader.ts";
import { readModelPath } from "../model-path.ts";
import { countedBlock, renderBlock, renderTool, type BlockParts } from "./foreign-rendering.ts";
import { cachePointJson, kindOfMember, memberOfBlock } from "./schema.ts";

interface ConverseFrame extends ReadFrame {
  readonly root: json.JsonObject;
  readonly stray: readonly StrayMarker[];
  readonly model: ModelAbilities | undefined;
}

/** What the messages so far hold. */
interface SeenMessages {
  readonly stray: readonly StrayMarker[];
  readonly hasImages: boolean;
}

const growing: GrowingReader<ConverseFrame, SeenMessages> = {
  member: "messages",
  elementsOf: (body) => json.listOf(body, "messages"),
  readFrame: (root, model) => {
    const config = json.memberOf(root, "toolConfig");
    const tools = toDrafts(json.listOf(config, "tools"), "toolConfig.tools", readTool);
    const system = toDrafts(json.listOf(root, "system"), "system", readSystem);
    return {
      drafts: [...tools.drafts, ...endMessage(system.drafts)],
      stray: [...tools.stray, ...system.stray],
      forElements: "",
      root,
      model,
    };
  },
  start: { stray: [], hasImages: false },
  readElement: (message, index, { carried }) => {
    const named = json.textOf(message, "role") ?? "user";
    const role: PromptRole = named === "assistant" || named === "system" ? named : "user";
    const path = `messages.${index}.content`;
    const { drafts, stray } = toDrafts(json.listOf(message, "content"), path, (block, at) =>
      readBlock(block, { path: at, role, section: `${role} message ${index}` }),
    );
    const hasImages = carried.hasImages || hasImage(message);
    const isSame = stray.length === 0 && hasImages === carried.hasImages;
    return {
      drafts: endMessage(drafts),
      carried: isSame ? carried : { stray: [...carried.stray, ...stray], hasImages },
      usesFrame: false,
      closes: false,
    };
  },
  finish: ({ root, stray, model }, seen) => ({
    requestMarker: null,
    strayMarkers: [...stray, ...seen.stray],
    mode: "explicit",
    ownLifetime: null,
    ...readSettings(root, seen.hasImages, model),
    continues: false,
  }),
};

export const foreign: ForeignReader = {
  needs: "messages",
  isSentTo: ({ path }) => readModelPath(path)?.action.startsWith("converse") === true,
  fits: (body) => json.memberOf(body, "messages")?.kind === "list",
  hasSigns: (body) =>
    ownMembers.some((member) => json.hasMember(body, member)) ||
    json.listOf(body, "messages").some(hasOwnContent),
  usualModels: /(?:^|[./])(?:anthropic|amazon|meta|mistral|cohere|ai21)\.[a-z]/,
  otherNames: /converse/,
  modelOf: ({ path, body }) => readModelPath(path)?.model ?? json.textOf(body, "modelId") ?? "",
  outputLimits: ["inferenceConfig.maxTokens"],
  read: (body, model) => readByElements(growing, body, model),
  growing,
  cacheDefaults: { mode: "explicit", lifetime: "5m" },
  showsThinking: true,
  marking: {
    standsAlone: true,
    names: ["cachePoint"],
    settings: [],
    takesSlot: [],
    toPart: (text) => ({ text }),
    words: () => ({
      toMarker: (lifetime) => ["cachePoint", cachePointOf(cachePointJson(lifetime))],
      members: [],
    }),
  },
};

const ownMembers: readonly string[] = [
  "toolConfig",
  "inferenceConfig",
  "additionalModelRequestFields",
  "guardrailConfig",
  "performanceConfig",
  "modelId",
];

/** A block of ours has one member, and no type. */
function hasOwnContent(message: json.JsonNode): boolean {
  return json.listOf(message, "content").some((block) => partsOf(block) !== undefined);
}

function partsOf(block: json.JsonNode): BlockParts | undefined {
  if (block.kind !== "object" || json.hasMember(block, "type")) return undefined;
  const member = memberOfBlock(block.members.keys());
  const value = member === undefined ? undefined : json.memberOf(block, member);
  return member === undefined || value === undefined ? undefined : { member, value };
}

function cachePointOf(blockJson: string): string {
  const block = json.parseJsonTree(blockJson, "a cache point");
  const point = json.memberOf(block, "cachePoint");
  return point === undefined ? "{}" : json.compactJson(point);
}

interface ReadList {
  readonly drafts: readonly BlockDraft[];
  readonly stray: readonly StrayMarker[];
}

/** A cache point at the beginning of a list has no block before it. */
function toDrafts(
  items: readonly json.JsonNode[],
  listPath: string,
  read: (item: json.JsonNode, path: string) => BlockDraft,
): ReadList {
  const drafts: BlockDraft[] = [];
  const stray: StrayMarker[] = [];
  for (const [index, item] of items.entries()) {
    const path = `${listPath}.${index}`;
    const point = json.memberOf(item, "cachePoint");
    const last = drafts.at(-1);
    if (point === undefined) drafts.push(read(item, path));
    else if (last === undefined) stray.push({ path, on: "other" });
    else {
      // Five minutes is the provider's default.
      const ttl = json.textOf(point, "ttl");
      const lifetime = lifetimes.find((each) => each === ttl) ?? "5m";
      drafts[drafts.length - 1] = { ...last, markers: [...last.markers, { lifetime, path }] };
    }
  }
  return { drafts, stray };
}

function readTool(tool: json.JsonNode, path: string): BlockDraft {
  const spec = json.memberOf(tool, "toolSpec") ?? json.memberOf(tool, "systemTool");
  return {
    path,
    section: `tool ${json.textOf(spec, "name") ?? path}`,
    tier: "T0",
    role: "tools",
    kind: "tool definition",
    text: renderTool(tool),
    endsMessage: false,
    mayCarryMarker: true,
    markers: [],
  };
}

function readSystem(block: json.JsonNode, path: string): BlockDraft {
  const section = `system block ${path.slice("system.".length)}`;
  const draft = readBlock(block, { path, role: "system", section });
  const kind = draft.kind === "text" ? "system text" : draft.kind;
  return { ...draft, section, tier: "T1", kind };
}

interface BlockPlace {
  readonly path: string;
  readonly role: PromptRole;
  readonly section: string;
}

function readBlock(block: json.JsonNode, { path, role, section }: BlockPlace): BlockDraft {
  const parts = partsOf(block);
  const named = kindOfMember(parts?.member ?? "") ?? "other";
  const isEmpty = named === "text" && json.textOf(block, "text") === "";
  const kind = isEmpty ? "empty text" : named;
  const name = json.textOf(parts?.value, "name") ?? "a tool";
  const counted = parts === undefined ? undefined : countedBlock(parts);
  return {
    path,
    section:
      kind === "text" || kind === "empty text"
        ? section
        : `${kind === "tool_use" ? `use of ${name}` : kind} in ${section}`,
    tier: "T3",
    role,
    kind,
    text: renderBlock(block, parts),
    endsMessage: false,
    mayCarryMarker: kind !== "thinking" && kind !== "empty text",
    markers: [],
    ...(counted === undefined ? {} : { counted }),
  };
}

/** Converse has members of its own for some settings; the others go to the model's own API. */
function readSettings(
  root: json.JsonObject,
  hasImages: boolean,
  model: ModelAbilities | undefined,
): Pick<ReadShape, "settings" | "keepsThinking"> {
  const own = json.memberOf(root, "additionalModelRequestFields");
  const fields = own?.kind === "object" ? own : json.toJsonTree({});
  const thinks = model?.capabilities.thinkingByDefault === true;
  const { settings, keepsThinking } = readMessagesSettings(fields, thinks);
  const choice = json.memberOf(json.memberOf(root, "toolConfig"), "toolChoice");
  const output = json.memberOf(root, "outputConfig");
  const effort = json.textOf(output, "effort") ?? "high";
  const format = json.memberOf(output, "textFormat");
  const toolChoice = choiceOf(choice);
  return {
    settings: {
      ...settings,
      ...(toolChoice === "auto" ? {} : { "tool choice": toolChoice }),
      // High is the provider's default.
      ...(effort === "high" ? {} : { effort }),
      ...(format === undefined ? {} : { "output format": json.compactJson(format) }),
      ...(hasImages ? { "images appear or vanish": "images" } : {}),
    },
    keepsThinking,
  };
}

function choiceOf(choice: json.JsonNode | undefined): string {
  const name = json.textOf(json.memberOf(choice, "tool"), "name");
  if (name !== undefined) return `tool ${name}`;
  return json.hasMember(choice, "any") ? "any" : "auto";
}

function hasImage(message: json.JsonNode): boolean {
  return json
    .listOf(message, "content")
    .some(
      (block) =>
        json.hasMember(block, "image") ||
        json
          .listOf(json.memberOf(block, "toolResult"), "content")
          .some((inner) => json.hasMember(inner, "image")),
    );
}
