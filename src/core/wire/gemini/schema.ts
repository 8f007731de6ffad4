// The JSON of generateContent: its paths, requests as we write them, and the members of answers that we read.
import { fieldsIn, fieldsOf, isObject, listIn, textIn, type Fields } from "../../message/fields.ts";
import { escapeLoneSurrogates, itemTexts, memberTexts } from "../../message/json-text.ts";
import type { JsonText } from "../../message/message.ts";
import type { CallPlace } from "../protocol.ts";
import { readPart, textPart, type ReadPart } from "./parts.ts";

/**
 * Vertex names a model by its publisher, below a base URL with version, project and location. The Gemini API names it alone.
 */
export function geminiPath({ model, stream }: CallPlace): string {
  const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return `${resourceOf(model)}:${method}`;
}

function resourceOf(model: string): string {
  if (isOnVertex(model)) return `/${model}`;
  return `/v1beta/${model.includes("/") ? model : `models/${model}`}`;
}

/** Whether a name is spelled as on Vertex. */
export function isOnVertex(model: string): boolean {
  return model.startsWith("publishers/");
}

export interface GenerateContentRequest {
  tools?: { functionDeclarations: FunctionDeclaration[] }[];
  systemInstruction?: { parts: { text: string }[] };
  contents: { role: "user" | "model"; parts: GeminiPart[] }[];
  toolConfig?: {
    functionCallingConfig: { mode: "AUTO" | "ANY" | "NONE"; allowedFunctionNames?: string[] };
  };
  generationConfig?: {
    maxOutputTokens?: number;
    temperature?: number;
    stopSequences?: string[];
    thinkingConfig?: Record<string, unknown>;
    responseMimeType?: string;
    responseJsonSchema?: unknown;
  };
  cachedContent?: string;
}

interface FunctionDeclaration {
  name: string;
  description: string;
  parametersJsonSchema: unknown;
}

export interface GeminiPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType: string; data: string };
  fileData?: { fileUri: string };
  functionCall?: { id?: string; name: string; args: Record<string, unknown> };
  functionResponse?: {
    id?: string;
    name: string;
    response: Record<string, unknown>;
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** An answer or one event of a stream. */
export interface GeminiAnswer {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** Undefined if there is no candidate, as for a blocked prompt. */
  readonly candidate: GeminiCandidate | undefined;
  readonly blockReason: string | undefined;
  readonly usage: Fields;
}

export interface GeminiCandidate {
  readonly finishReason: string | undefined;
  readonly finishMessage: string | undefined;
  readonly parts: readonly ReadPart[];
  /** Parts that are no objects. */
  readonly unreadable: number;
}

/** Only the first candidate: we never ask for more. `json` is the text of the same answer. */
export function readAnswer(answer: Fields, json: JsonText): GeminiAnswer {
  const all = listIn(answer, "candidates").map(fieldsOf);
  const at = all.findIndex(({ index }) => index === undefined || index === null || index === 0);
  return {
    id: textIn(answer, "responseId"),
    model: textIn(answer, "modelVersion"),
    candidate: at === -1 ? undefined : readCandidate(all[at] ?? {}, at, json),
    blockReason: textIn(fieldsIn(answer, "promptFeedback"), "blockReason"),
    usage: fieldsOf(findUsage(answer)),
  };
}

function readCandidate(candidate: Fields, at: number, json: JsonText): GeminiCandidate {
  const listed = listIn(fieldsIn(candidate, "content"), "parts");
  // Most events of a stream have nothing but text, and its exact spelling is not kept.
  const parts = plainParts(listed) ?? partTexts(json, at).flatMap((text) => readPart(text) ?? []);
  return {
    finishReason: textIn(candidate, "finishReason"),
    finishMessage: textIn(candidate, "finishMessage"),
    parts,
    unreadable: listed.length - parts.length,
  };
}

/** Null if one of them is more than text. */
function plainParts(listed: readonly unknown[]): readonly ReadPart[] | null {
  const parts: ReadPart[] = [];
  for (const part of listed) {
    const text = plainTextOf(part);
    if (text === undefined) return null;
    parts.push(textPart(text));
  }
  return parts;
}

function plainTextOf(part: unknown): string | undefined {
  if (!isObject(part) || typeof part["text"] !== "string") return undefined;
  for (const name in part) if (name !== "text") return undefined;
  return part["text"];
}

function partTexts(json: JsonText, at: number): readonly JsonText[] {
  const candidates = memberTexts(escapeLoneSurrogates(json)).get("candidates") ?? "";
  const content = memberTexts(itemTexts(candidates)[at] ?? "").get("content") ?? "";
  return itemTexts(memberTexts(content).get("parts") ?? "");
}

export function findUsage(answer: Fields): unknown {
  return answer["usageMetadata"] ?? undefined;
}
