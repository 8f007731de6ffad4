// Removes the application's own cache markers wherever the SDK would read them: they would count against the provider's
// limit, and could break its rules together with the plan's markers.
import type { SdkMessage, SdkOptions, SdkParams } from "./sdk-call.ts";

/** Anything the SDK reads options from. */
export interface Optional {
  readonly providerOptions?: SdkOptions;
}

/** Removes markers from the request, its tools, messages, parts and tool results. Unmarked values stay the same object. */
export function stripMarkers(params: SdkParams, spellings: readonly string[]): SdkParams {
  const strip: Strip = (carrier) => withoutMarkers(carrier, spellings);
  const plain = strip(params);
  return {
    ...plain,
    prompt: plain.prompt.map((message) => stripMessage(message, strip)),
    ...(plain.tools === undefined
      ? {}
      : { tools: plain.tools.map((tool) => (tool.type === "function" ? strip(tool) : tool)) }),
  };
}

type Strip = <Carrier extends Optional>(carrier: Carrier) => Carrier;

function stripMessage(message: SdkMessage, strip: Strip): SdkMessage {
  return mapParts(strip(message), (part) => stripPart(part, strip));
}

type MessagePart = Exclude<SdkMessage["content"], string>[number];

/** The message with other parts. A system message has none. */
export function mapParts(
  message: SdkMessage,
  change: <Part extends MessagePart>(part: Part, at: number) => Part,
): SdkMessage {
  switch (message.role) {
    case "system":
      return message;
    case "user":
      return { ...message, content: message.content.map(change) };
    case "assistant":
      return { ...message, content: message.content.map(change) };
    case "tool":
      return { ...message, content: message.content.map(change) };
  }
}

function stripPart<Part extends MessagePart>(part: Part, strip: Strip): Part {
  const plain = strip(part);
  if (plain.type !== "tool-result" || !("output" in plain)) return plain;
  const { output } = plain;
  return {
    ...plain,
    output:
      output.type === "content" ? { ...output, value: output.value.map(strip) } : strip(output),
  };
}

/** Removes them under every provider key: the SDK looks in more than one place. */
function withoutMarkers<Carrier extends Optional>(
  carrier: Carrier,
  spellings: readonly string[],
): Carrier {
  const { providerOptions } = carrier;
  const isMarker = (name: string): boolean => spellings.includes(name);
  const isMarked = Object.values(providerOptions ?? {}).some((own) =>
    Object.keys(own).some(isMarker),
  );
  if (providerOptions === undefined || !isMarked) return carrier;
  const plain = Object.entries(providerOptions).map(([name, own]) => {
    const rest = Object.entries(own).filter(([key]) => !isMarker(key));
    return [name, Object.fromEntries(rest)];
  });
  return { ...carrier, providerOptions: Object.fromEntries(plain) };
}
