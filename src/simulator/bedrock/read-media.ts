// Reads images, documents and search results of Converse.
import { jsonText, type Json, type JsonObject } from "../json-source.ts";
import {
  constraint,
  fields,
  find,
  insideOf,
  listOf,
  memberOf,
  objectOf,
  optional,
  optionalText,
  type Member,
  type Place,
} from "./read-fields.ts";
import { invalid, invented } from "./refusal.ts";

const imageFormats = ["png", "jpeg", "gif", "webp"] as const;

export function readImage(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  const format = fields.oneOfAt(inside, "format", imageFormats);
  const source = bytesOf(fields.placeAt(inside, "source"), `${at}.source`);
  return objectOf({ type: jsonText("image"), source: base64(`image/${format}`, source) });
}

const documentFormats = ["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"] as const;
const textFormats: ReadonlySet<string> = new Set(["csv", "html", "txt", "md"]);

/** A PDF reaches the model as such, everything else as text. */
export function readDocument(member: Member<string>): JsonObject {
  const { inside, at } = insideOf(member);
  const format = fields.findOneOf(inside, "format", documentFormats) ?? "txt";
  const name = fields.textAt(inside, "name");
  if (!/^[\w\s()[\]-]{1,200}$/.test(name) || /\s{2}/.test(name))
    throw invalid(
      "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
    );
  return objectOf({
    type: jsonText("document"),
    title: jsonText(name),
    source: documentSource(fields.placeAt(inside, "source"), format, `${at}.source`),
    context: optionalText(fields.findText(inside, "context")),
    citations: optional(inside, "citations"),
  });
}

function documentSource(source: Place, format: string, at: string): Json {
  const member = memberOf(source, at, "DocumentSource", ["bytes", "text", "content", "s3Location"]);
  switch (member.kind) {
    case "text":
      return plainText(fields.textAt(source, "text"));
    case "content": {
      const texts = fields.placesAt(source, "content").map((part) => fields.textAt(part, "text"));
      const blocks = texts.map((text) =>
        objectOf({ type: jsonText("text"), text: jsonText(text) }),
      );
      return objectOf({ type: jsonText("content"), content: listOf(blocks) });
    }
    case "s3Location":
    case "bytes": {
      const data = bytesOf(source, at);
      if (textFormats.has(format)) return plainText(Buffer.from(data, "base64").toString());
      return base64(format === "pdf" ? "application/pdf" : `application/${format}`, data);
    }
  }
}

function plainText(text: string): Json {
  return objectOf({
    type: jsonText("text"),
    media_type: jsonText("text/plain"),
    data: jsonText(text),
  });
}

/** Only some models of Amazon's own read from S3. */
function bytesOf(source: Place, at: string): string {
  if (find(source, "s3Location") !== null) throw invalid(`${at}.type: Field required`);
  const data = fields.textAt(source, "bytes");
  if (data === "")
    throw constraint(
      "''",
      `${source.path}.bytes`,
      "Member must have length greater than or equal to 1",
    );
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw invented(`${at}.bytes: this is not base64`);
  return data;
}

function base64(mediaType: string, data: string): Json {
  return objectOf({
    type: jsonText("base64"),
    media_type: jsonText(mediaType),
    data: jsonText(data),
  });
}

export function readSearchResult(member: Member<string>): JsonObject {
  const { inside } = insideOf(member);
  const texts = fields.placesAt(inside, "content").map((part) => fields.textAt(part, "text"));
  return objectOf({
    type: jsonText("search_result"),
    source: jsonText(fields.textAt(inside, "source")),
    title: jsonText(fields.textAt(inside, "title")),
    content: listOf(
      texts.map((text) => objectOf({ type: jsonText("text"), text: jsonText(text) })),
    ),
    citations: optional(inside, "citations"),
  });
}
