// What a request of the AI SDK held besides its prompt: the settings in its body, and its beta features.
import type { SentBesides } from "../../core/turn/diagnose-call.ts";
import { readRequest } from "../../core/wire/foreign/read-request.ts";
import type { NamedSdkModel } from "./reach-model.ts";
import type { SdkParams } from "./sdk-call.ts";

/** Reads the body that the SDK sent, as the body of any client is read, without its prompt. */
export function readBesides(
  body: unknown,
  params: SdkParams,
  { protocol, words, facts }: NamedSdkModel,
): SentBesides {
  const betas = betasOf(params, words);
  const sent: unknown = typeof body === "string" ? JSON.parse(body) : body;
  // Not every provider of the SDK gives it.
  if (typeof sent !== "object" || sent === null) return { betas };
  const bare = JSON.stringify({ ...sent, ...words.bare });
  const { settings, keepsThinking } = readRequest(bare, { protocol, facts });
  return { betas, settings, keepsThinking };
}

function betasOf(
  { headers = {}, providerOptions }: SdkParams,
  { name, betas }: NamedSdkModel["words"],
): readonly string[] {
  if (betas === null) return [];
  const inHeader = Object.entries(headers).flatMap(([header, value]) =>
    header.toLowerCase() === betas.header ? (value ?? "").split(",") : [],
  );
  const asked: unknown = providerOptions?.[name]?.[betas.option];
  const inOptions = Array.isArray(asked) ? asked.map(String) : [];
  const all = [...inHeader, ...inOptions].map((beta) => beta.trim());
  return [...new Set(all.filter((beta) => beta !== ""))];
}
