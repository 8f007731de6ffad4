// One call as the AI SDK makes it, in its own words.
import type { LanguageModelMiddleware } from "ai";

type Wrapped = Parameters<NonNullable<LanguageModelMiddleware["wrapGenerate"]>>[0];

export type SdkModel = Wrapped["model"];
export type SdkParams = Wrapped["params"];
export type SdkMessage = SdkParams["prompt"][number];
export type SdkTool = NonNullable<SdkParams["tools"]>[number];
export type SdkResult = Awaited<ReturnType<Wrapped["doGenerate"]>>;
export type SdkStreamResult = Awaited<ReturnType<Wrapped["doStream"]>>;
export type SdkStreamPart =
  SdkStreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
/** A part of a message, or of a reply. */
export type SdkPart = Exclude<SdkMessage["content"], string>[number] | SdkResult["content"][number];
/** What a part says to one provider. */
export type SdkOptions = NonNullable<SdkMessage["providerOptions"]>;

/** Options are sent with a part, metadata come back with it; both say the same. */
export function optionIn(part: SdkPart, provider: string, name: string): unknown {
  const told = "providerOptions" in part ? part.providerOptions : undefined;
  const came = "providerMetadata" in part ? part.providerMetadata : undefined;
  return told?.[provider]?.[name] ?? came?.[provider]?.[name];
}
