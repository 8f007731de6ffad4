// Reads contents and their parts.
import { invalid } from "../api-error.ts";
import { compactJson, type Json } from "../../json-source.ts";
import { readImageSize } from "../../image-size.ts";
import type { Content, Media, Part } from "./contents.ts";
import { fields, find, pathOf, wrongValue, type Place } from "./fields.ts";
import { toSnakePath } from "./known-fields.ts";

/** The contents of a request, or of a stored prefix. */
export function readContents(body: Place): readonly Content[] {
  return (fields.findPlaces(body, "contents") ?? []).map((place, index) => ({
    role: readRole(place),
    parts: readParts(place, `contents[${index}]`),
    position: index + 1,
  }));
}

/** Older clients answer calls in the role `function`. */
function readRole(place: Place): Content["role"] {
  const role = fields.findText(place, "role") ?? "user";
  if (role === "user" || role === "function" || role === "") return "user";
  if (role === "model") return "model";
  throw invalid("Please use a valid role: user, model.");
}

/** System text: a string, or a content without a role that matters. */
export function readSystem(body: Place): readonly Part[] {
  const value = find(body, "systemInstruction");
  if (value === null) return [];
  if (value.kind === "string") {
    return [{ kind: "text", text: value.text, isThought: false, signature: null }];
  }
  const place = fields.findPlace(body, "systemInstruction");
  return place === null ? [] : readParts(place, "system_instruction");
}

function readParts(place: Place, name: string): readonly Part[] {
  const parts = fields.findPlaces(place, "parts") ?? [];
  if (parts.length === 0) {
    throw invalid(`* GenerateContentRequest.${name}.parts: contents.parts must not be empty.\n`);
  }
  return parts.map((part, index) => readPart(part, `${name}.parts[${index}]`));
}

function readPart(place: Place, name: string): Part {
  const signature = fields.findText(place, "thoughtSignature");
  const text = fields.findText(place, "text");
  if (text !== null) {
    return { kind: "text", text, isThought: fields.findFlag(place, "thought") ?? false, signature };
  }
  const call = fields.findPlace(place, "functionCall");
  if (call !== null) return { ...readCall(call), signature };
  const response = fields.findPlace(place, "functionResponse");
  if (response !== null) return { ...readResponse(response), signature };
  const media = readMedia(place);
  if (media !== null) return { ...media, signature };
  if (place.object.fields.size === 0 || hasNoData(place)) {
    throw invalid(
      `* GenerateContentRequest.${name}.data: required oneof field 'data' must have one initialized field\n`,
    );
  }
  return { kind: "other", source: compactJson(place.object), signature };
}

const withoutData: ReadonlySet<string> = new Set([
  "thought",
  "thoughtSignature",
  "mediaResolution",
  "videoMetadata",
  "partMetadata",
]);

function hasNoData({ object }: Place): boolean {
  return [...object.fields.keys()].every((key) => withoutData.has(key));
}

function readCall(place: Place): Omit<Extract<Part, { kind: "call" }>, "signature"> {
  const args = fields.findPlace(place, "args");
  return {
    kind: "call",
    id: fields.findText(place, "id"),
    name: nameIn(place),
    argsJson: args === null ? "{}" : compactJson(args.object),
  };
}

function nameIn(place: Place): string {
  const name = fields.findText(place, "name") ?? "";
  if (name !== "") return name;
  const path = toSnakePath(place.path);
  throw invalid(`* GenerateContentRequest.${path}.name: Name cannot be empty.\n`);
}

function readResponse(place: Place): Omit<Extract<Part, { kind: "response" }>, "signature"> {
  const response = fields.findPlace(place, "response");
  const media = (fields.findPlaces(place, "parts") ?? []).flatMap((part) => readMedia(part) ?? []);
  const error = response === null ? null : find(response, "error");
  return {
    kind: "response",
    id: fields.findText(place, "id"),
    name: nameIn(place),
    responseJson: response === null ? "{}" : compactJson(response.object),
    text: response === null ? "" : toldOf(response, error),
    isError: error !== null,
    media,
  };
}

/** Clients put the result under one of these keys; anything else becomes JSON text. */
const resultKeys = ["output", "result", "content"] as const;

function toldOf(response: Place, error: Json | null): string {
  const key = resultKeys.find((each) => find(response, each) !== null);
  const result = error ?? (key === undefined ? response.object : find(response, key));
  if (result === null) return "";
  return result.kind === "string" ? result.text : compactJson(result);
}

function readMedia(place: Place): Media | null {
  const inline = fields.findPlace(place, "inlineData");
  const file = fields.findPlace(place, "fileData");
  const found = inline ?? file;
  if (found === null) return null;
  const mimeType = fields.findText(found, "mimeType") ?? "";
  const data = inline === null ? "" : fields.textAt(inline, "data");
  if (!/^[\w+/=\s-]*$/.test(data)) {
    throw wrongValue(pathOf(found, "data"), "TYPE_BYTES", { kind: "string", text: "…" });
  }
  const source = `${mimeType}\n${file === null ? data : compactJson(file.object)}`;
  const size = mimeType.startsWith("image/") ? readImageSize(data) : null;
  return { kind: "media", mimeType, source, size, bytes: Math.floor((data.length * 3) / 4) };
}
