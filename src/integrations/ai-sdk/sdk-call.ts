// The AI SDK's types of one call.
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
export type SdkPart = Exclude<SdkMessage["content"], string>[number] | SdkResult["content"][number];
export type SdkOptions = NonNullable<SdkMessage["providerOptions"]>;

/** Reads an option. A part has options when sent and metadata when it comes back; both mean the same. */
export function optionIn(part: SdkPart, provider: string, name: string): unknown {
  const sent = "providerOptions" in part ? part.providerOptions : undefined;
  const received = "providerMetadata" in part ? part.providerMetadata : undefined;
  return sent?.[provider]?.[name] ?? received?.[provider]?.[name];
}
