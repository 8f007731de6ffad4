// A request with two system segments, stable and volatile, as an assembly.
import type { Section } from "../layers/section.ts";
import { systemSegments, type CanonicalRequest } from "../message/canonical-request.ts";
import type { Message } from "../message/message.ts";
import type { ModelFacts } from "../models/model-facts.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { selectTools } from "../tools/select-tools.ts";
import { assemble, type Assembly } from "./assemble.ts";
import { buildFoundation } from "./foundation.ts";
import type { Layout } from "./layout.ts";
import type { Spelling } from "./spelling.ts";
import { toSystemBlocks, volatileText } from "./system-blocks.ts";
import { appendMessages, openThread } from "./thread.ts";

export interface RequestSetting {
  readonly layout: Layout;
  readonly spelling: Spelling;
  readonly counter: TokenCounter;
  readonly model: Pick<ModelFacts, "toolPromptTokens" | "capabilities" | "cache">;
}

/**
 * The stable segment becomes static text; the layout places the volatile one. If the model takes no system
 * messages among the messages, they go into the stable segment.
 */
export function assembleRequest(
  request: CanonicalRequest,
  { layout, spelling, counter, model }: RequestSetting,
): Assembly {
  const isHoisted = ({ role }: Message): boolean =>
    role === "system" && !model.capabilities.midConversationSystem;
  const messages = request.messages.filter((message) => !isHoisted(message));
  const sections = [
    ...systemSegments(request).map(({ name, text }) => toSection(name, text)),
    ...request.messages.filter(isHoisted).map((message) => toSection("stable", textOf(message))),
  ];
  const offered = request.tools.map((definition) => ({ definition, needs: [] }));
  const { tools } = selectTools({
    offered,
    granted: [],
    role: "unified",
    order: layout.toolOrder,
  });
  const system = toSystemBlocks(sections, layout);
  const foundation = buildFoundation({ tools, system, spelling, counter, model });
  const from = currentFrom(messages);
  return assemble({
    thread: appendMessages(openThread(foundation), messages.slice(0, from)),
    current: messages.slice(from),
    volatile: volatileText(sections),
    layout,
    model,
  });
}

function toSection(name: "stable" | "volatile", text: string): Section {
  return name === "stable"
    ? { name, layer: "workspace", stability: "static", text }
    : { name, layer: "event", stability: "turn", text };
}

function textOf({ content }: Message): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}

/** Everything after the last reply is new. */
function currentFrom(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === "assistant") + 1;
}
