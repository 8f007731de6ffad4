// A cache plan → provider options on the parts of a prompt. The plan's markers replace the existing ones.
import type { Assembly } from "../../core/assembly/assemble.ts";
import type { CachePlan } from "../../core/cache/cache-plan.ts";
import type { NamedSdkModel } from "./reach-model.ts";
import type { Place, ReadPrompt } from "./read-prompt.ts";
import type { SdkMessage, SdkOptions, SdkParams, SdkTool } from "./sdk-call.ts";

export interface PlacedMarkers {
  readonly params: SdkParams;
  /** Planned markers whose place in the prompt is unknown. */
  readonly lostCount: number;
}

export function placeMarkers(
  params: SdkParams,
  prompt: ReadPrompt,
  { assembly, plan }: { readonly assembly: Assembly; readonly plan: CachePlan },
  { words }: Pick<NamedSdkModel, "words">,
): PlacedMarkers {
  const places = placesOf(assembly, prompt);
  const markers = new Map<string, SdkOptions[string]>();
  let lostCount = 0;
  for (const { block, lifetime } of plan.markers) {
    const place = places[block] ?? null;
    if (place === null) lostCount += 1;
    else markers.set(nameOf(place), words.toMarker(lifetime));
  }
  const mark = <Carrier extends Optional>(carrier: Carrier, place: Place): Carrier =>
    withOption(carrier, words, markers.get(nameOf(place)));
  const request = words.toRequest(plan);
  const plain = stripMarkers(params, words.markerSpellings);
  return {
    lostCount,
    params: {
      ...plain,
      prompt: plain.prompt.map((message, index) => markMessage(message, index, mark)),
      ...(plain.tools === undefined ? {} : { tools: plain.tools.map(markTool(mark)) }),
      ...(Object.keys(request).length === 0
        ? {}
        : { providerOptions: withOptions(plain.providerOptions, words.name, request) }),
    },
  };
}

/** The place of each block: tools, system text, then the messages in order. */
function placesOf({ thread, blocks }: Assembly, prompt: ReadPrompt): readonly (Place | null)[] {
  const places: (Place | null)[] = [...prompt.toolPlaces, ...prompt.systemPlaces];
  const { foundation, messageEnds } = thread;
  let from = foundation.blocks.length;
  let before = foundation.end.key;
  prompt.messages.forEach(({ places: own }, index) => {
    const key = messageEnds.at(index)?.key ?? before;
    // Content that the protocol does not carry has no blocks.
    if (key === before) return;
    before = key;
    let end = from;
    while (end < blocks.length && blocks.at(end)?.key !== key) end += 1;
    const count = end + 1 - from;
    for (let at = 0; at < count; at += 1) {
      // A reply may come back split differently; only its end is certain.
      const isSame = count === own.length || at === count - 1;
      places[from + at] = isSame ? (own.at(at - count) ?? null) : null;
    }
    from = end + 1;
  });
  return places;
}

function nameOf(place: Place): string {
  return place.in === "tools" ? `tool ${place.index}` : `${place.index} ${place.part ?? "whole"}`;
}

type Mark = <Carrier extends Optional>(carrier: Carrier, place: Place) => Carrier;

function markMessage(message: SdkMessage, index: number, mark: Mark): SdkMessage {
  const whole = mark(message, { in: "prompt", index, part: null });
  return mapParts(whole, (part, at) => mark(part, { in: "prompt", index, part: at }));
}

function markTool(mark: Mark): (tool: SdkTool, index: number) => SdkTool {
  return (tool, index) => (tool.type === "function" ? mark(tool, { in: "tools", index }) : tool);
}

function withOption<Carrier extends Optional>(
  carrier: Carrier,
  { name, marker }: NamedSdkModel["words"],
  value: SdkOptions[string] | undefined,
): Carrier {
  if (value === undefined) return carrier;
  const providerOptions = withOptions(carrier.providerOptions, name, { [marker]: value });
  return { ...carrier, providerOptions };
}

function withOptions(
  options: SdkOptions | undefined,
  name: string,
  more: SdkOptions[string],
): SdkOptions {
  return { ...options, [name]: { ...more, ...options?.[name] } };
}

/** Anything the SDK reads options from. */
interface Optional {
  readonly providerOptions?: SdkOptions;
}

/** Removes markers from the request, its tools, messages, parts and tool results. Unmarked values stay the same object. */
function stripMarkers(params: SdkParams, spellings: readonly string[]): SdkParams {
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
function mapParts(
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
