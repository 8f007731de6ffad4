// The parts of a content that another client wrote → blocks as the model reads them.
import type { BlockKind, PromptRole } from "../../assembly/prompt-block.ts";
import type { Block } from "../../message/message.ts";
import type { BlockDraft } from "../foreign/foreign-request.ts";
import * as json from "../../message/json-tree.ts";
import { listIn, memberIn, textIn } from "./foreign-members.ts";

export interface PartsPlace {
  readonly path: string;
  readonly section: string;
  readonly tier: BlockDraft["tier"];
  readonly role: PromptRole;
}

/** A plain text is a content with one part. */
export function readParts(content: json.JsonNode, place: PartsPlace): readonly BlockDraft[] {
  if (content.kind !== "object") return [readPart(content, place.path, place)];
  const parts = json.memberOf(content, "parts");
  const list = parts?.kind === "list" ? parts.items : parts === undefined ? [] : [parts];
  return list.map((part, index) => readPart(part, `${place.path}.parts.${index}`, place));
}

function readPart(part: json.JsonNode, path: string, place: PartsPlace): BlockDraft {
  const { section, tier, role } = place;
  const call = memberIn(part, "functionCall");
  const result = memberIn(part, "functionResponse");
  const kind = kindOf(part, role);
  const name = json.textOf(call ?? result, "name") ?? "";
  const named = call !== undefined ? `use of ${name}` : `result of ${name}`;
  const isTool = call !== undefined || result !== undefined;
  const isMedia = kind === "image" || kind === "document";
  const counted = countedPart(part, kind);
  return {
    path,
    section: isTool ? `${named} in ${section}` : isMedia ? `${kind} in ${section}` : section,
    tier,
    role,
    kind,
    text: textOfPart(part),
    endsMessage: false,
    mayCarryMarker: false,
    markers: [],
    ...(counted === undefined ? {} : { counted }),
  };
}

function kindOf(part: json.JsonNode, role: PromptRole): BlockKind {
  if (memberIn(part, "functionCall") !== undefined) return "tool_use";
  if (memberIn(part, "functionResponse") !== undefined) return "tool_result";
  const data = memberIn(part, "inlineData") ?? memberIn(part, "fileData");
  if (data !== undefined) {
    return (textIn(data, "mimeType") ?? "").startsWith("image/") ? "image" : "document";
  }
  if (json.isScalar(part, "thought", "true")) return "thinking";
  const text = part.kind === "string" ? part.text : json.textOf(part, "text");
  if (text === undefined) return "other";
  if (text === "") return signatureOf(part) === "" ? "empty text" : "thinking";
  return role === "system" ? "system text" : "text";
}

/**
 * A signature is part of what the model reads: without it the rest of the prompt is another one. The ids of calls only pair them
 * with their results.
 */
function textOfPart(part: json.JsonNode): string {
  if (part.kind === "string") return part.text;
  const text = json.textOf(part, "text");
  const signature = signatureOf(part);
  const call = memberIn(part, "functionCall");
  const result = memberIn(part, "functionResponse");
  const own =
    text ??
    (call !== undefined
      ? json.compactJson(call, notShown)
      : result !== undefined
        ? json.compactJson(result, notShown)
        : json.compactJson(part, signatureNames));
  return signature === "" ? own : `${own}\n${signature}`;
}

const notShown: ReadonlySet<string> = new Set(["id"]);
const signatureNames: ReadonlySet<string> = new Set(["thoughtSignature", "thought_signature"]);

function signatureOf(part: json.JsonNode): string {
  return textIn(part, "thoughtSignature") ?? "";
}

/** Undefined if the text is counted. Signatures are not: their length says nothing about tokens. */
function countedPart(part: json.JsonNode, kind: BlockKind): Block | undefined {
  if (kind === "tool_use") return countedCall(memberIn(part, "functionCall"));
  if (kind === "tool_result") return countedResult(memberIn(part, "functionResponse"));
  if (kind === "image" || kind === "document") return countedMedia(part, kind);
  const text = json.textOf(part, "text");
  return text === undefined || signatureOf(part) === "" ? undefined : { type: "text", text };
}

function countedCall(call: json.JsonNode | undefined): Block {
  const args = json.memberOf(call, "args");
  const inputJson = args === undefined ? "{}" : json.compactJson(args);
  return { type: "tool_use", id: "", name: json.textOf(call, "name") ?? "", inputJson };
}

function countedMedia(part: json.JsonNode, type: "image" | "document"): Block {
  const inline = memberIn(part, "inlineData");
  const file = memberIn(part, "fileData");
  if (inline === undefined) {
    return { type, source: { kind: "file", fileId: textIn(file, "fileUri") ?? "" } };
  }
  const mediaType = textIn(inline, "mimeType") ?? "";
  return {
    type,
    source: { kind: "base64", mediaType, data: json.textOf(inline, "data") ?? "" },
  };
}

function countedResult(result: json.JsonNode | undefined): Block {
  const response = json.memberOf(result, "response");
  const output = json.textOf(response, "output") ?? json.textOf(response, "error");
  const text = output ?? (response === undefined ? "" : json.compactJson(response));
  const media = listIn(result, "parts").map((each) => countedMedia(each, "image"));
  const content: readonly Block[] = [{ type: "text", text }, ...media];
  return { type: "tool_result", toolUseId: "", isError: false, content };
}
