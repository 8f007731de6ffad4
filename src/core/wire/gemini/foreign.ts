// Recognises and reads requests of generateContent from any client. The API takes members in both spellings, systemInstruction and
// system_instruction.
import type { PromptRole } from "../../assembly/prompt-block.ts";
import type { ForeignReader, RequestAddress, SeenRequest } from "../foreign/foreign-reader.ts";
import { endMessage, type BlockDraft } from "../foreign/foreign-request.ts";
import { readByElements, type GrowingReader, type ReadFrame } from "../foreign/growing-reader.ts";
import * as json from "../../message/json-tree.ts";
import { readParts } from "./foreign-parts.ts";
import { listIn, memberIn, textIn } from "./foreign-members.ts";
import { readSettings } from "./foreign-settings.ts";

interface ContentsFrame extends ReadFrame {
  readonly root: json.JsonObject;
  readonly stored: string | undefined;
}

const growing: GrowingReader<ContentsFrame, null> = {
  member: "contents",
  elementsOf: contentsOf,
  readFrame: (root) => {
    const stored = textIn(root, "cachedContent");
    const drafts = [
      ...(stored === undefined ? [] : [storedPrefix(stored)]),
      ...listIn(root, "tools").flatMap(readTool),
      ...readSystem(memberIn(root, "systemInstruction")),
    ];
    return { drafts, forElements: "", root, stored };
  },
  start: null,
  readElement: (content, index) => ({
    drafts: readContent(content, index),
    carried: null,
    usesFrame: false,
    closes: false,
  }),
  finish: ({ root, stored }) => ({
    requestMarker: null,
    strayMarkers: [],
    mode: "implicit",
    ownLifetime: null,
    settings: readSettings(root),
    keepsThinking: true,
    // What the provider keeps under a name stands before the body.
    continues: stored !== undefined,
  }),
};

export const foreign: ForeignReader = {
  needs: "contents",
  isSentTo: (address) => modelInPath(address) !== "",
  fits: (body) => {
    const kind = json.memberOf(body, "contents")?.kind;
    return kind !== undefined && kind !== "scalar";
  },
  hasSigns: (body) => contentsOf(body).some((content) => json.hasMember(content, "parts")),
  usualModels: /gemini/i,
  otherNames: /gemini|generate.?content|google.*(?:genai|generative|vertex)|^google$/,
  modelOf: (request) => modelInPath(request) || modelInBody(request),
  outputLimits: ["generationConfig.maxOutputTokens", "generation_config.max_output_tokens"],
  read: (body, model) => readByElements(growing, body, model),
  growing,
  cacheDefaults: { mode: "implicit", lifetime: "1h" },
  showsThinking: false,
};

/** A path of the Gemini API or of Vertex, also at a gateway that keeps their paths. */
function modelInPath({ path }: RequestAddress): string {
  const found = /\/(?:models|tunedModels|endpoints)\/([^/:?]+):(?:stream)?generateContent\b/i.exec(
    path ?? "",
  );
  return decode(found?.[1] ?? "");
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** As a log may keep it: with the folder of the model in front. */
function modelInBody({ body }: SeenRequest): string {
  return (json.textOf(body, "model") ?? "").replace(/^.*\/(?=[^/]*$)/, "");
}

const plain = { endsMessage: false, mayCarryMarker: false, markers: [] } as const;

/** Its name stands for its content: another name is another prefix. */
function storedPrefix(name: string): BlockDraft {
  return {
    ...plain,
    path: "cachedContent",
    section: `stored prefix ${name}`,
    tier: "T0",
    role: "tools",
    kind: "other",
    text: name,
    counted: null,
  };
}

/** A declaration each; a tool of the provider as a whole. */
function readTool(tool: json.JsonNode, index: number): readonly BlockDraft[] {
  const path = `tools.${index}`;
  const [name, declarations] = ["functionDeclarations", "function_declarations"]
    .map((each) => [each, json.listOf(tool, each)] as const)
    .find(([, list]) => list.length > 0) ?? ["", []];
  const own = declarations.map((declaration, place) =>
    toolDraft(
      declaration,
      `${path}.${name}.${place}`,
      json.textOf(declaration, "name") ?? "without a name",
    ),
  );
  const others =
    tool.kind === "object" ? [...tool.members.keys()].filter((key) => key !== name) : [];
  if (others.length === 0) return own;
  const rest = json.compactJson(tool, new Set([name]));
  return [...own, { ...toolDraft(tool, path, others.join(", ")), text: rest }];
}

function toolDraft(tool: json.JsonNode, path: string, name: string): BlockDraft {
  return {
    ...plain,
    path,
    section: `tool ${name}`,
    tier: "T0",
    role: "tools",
    kind: "tool definition",
    text: toolText(tool),
  };
}

/** Keys sorted at the top; a schema as it was written. */
function toolText(tool: json.JsonNode): string {
  if (tool.kind !== "object") return json.compactJson(tool);
  const members = [...tool.members].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return json.objectText(members.map(([key, value]) => [key, json.compactJson(value)]));
}

/** A plain text is one part. */
function readSystem(instruction: json.JsonNode | undefined): readonly BlockDraft[] {
  if (instruction === undefined) return [];
  const place = { section: "system instruction", tier: "T1", role: "system" } as const;
  return readParts(instruction, { ...place, path: "systemInstruction" });
}

/** A plain text, or one content, is a list of one. */
function contentsOf(root: json.JsonObject): readonly json.JsonNode[] {
  const contents = json.memberOf(root, "contents");
  if (contents === undefined) return [];
  return contents.kind === "list" ? contents.items : [contents];
}

function readContent(content: json.JsonNode, index: number): readonly BlockDraft[] {
  const named = json.textOf(content, "role") ?? "user";
  const role: PromptRole = named === "model" ? "assistant" : "user";
  const section = `${named} message ${index}`;
  const path = `contents.${index}`;
  return endMessage(readParts(content, { path, section, tier: "T3", role }));
}
