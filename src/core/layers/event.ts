// One event → the message that is stored, and what is told for this call only. The one way time gets into a prompt (H-09).
import type { AgentRole } from "../message/assembled-context.ts";
import type { Block, Message } from "../message/message.ts";
import { StrataError } from "../strata-error.ts";
import type { Section } from "./section.ts";

export interface AgentEvent {
  readonly content: string | readonly Block[];
  /** Where the event comes from; kept for the ledger, not told to the model. */
  readonly source: string;
  /** UTC where it is missing or blank. */
  readonly timezone?: string;
  readonly platform?: string;
  readonly platformActions?: readonly string[];
  readonly hookData?: readonly HookData[];
}

export interface HookData {
  readonly text: string;
  /** True: stored with the message and replayed. False: told once. */
  readonly persist: boolean;
}

export interface EventReading {
  readonly current: Message;
  readonly volatile: readonly Section[];
  /** For the ledger's note on the message. */
  readonly context: EventContext;
}

export interface EventContext {
  readonly source: string;
  readonly platform: string | null;
  readonly hookCount: number;
}

export function readEvent(
  event: AgentEvent,
  role: AgentRole,
  now: { readonly iso: string },
): EventReading {
  const hooks = (event.hookData ?? []).filter(({ text }) => text.trim() !== "");
  const stored = hooks.filter(({ persist }) => persist).map(({ text }) => toText(text));
  const content = [...stored, ...toBlocks(event.content)];
  if (content.length === 0) {
    throw new StrataError(
      "input-invalid",
      `an event from ${event.source} has no content`,
      "give it text or blocks, or hook data to be stored",
    );
  }
  return {
    current: { role: "user", content },
    volatile: [describeMoment(event, role, now)],
    context: {
      source: event.source,
      platform: event.platform?.trim() || null,
      hookCount: hooks.length,
    },
  };
}

/** What an event says of its moment besides its content. */
export type EventMoment = Pick<
  AgentEvent,
  "timezone" | "platform" | "platformActions" | "hookData"
>;

/** What is told for one call only: the time, where people are, hook data that is not stored. */
export function describeMoment(
  event: EventMoment,
  role: AgentRole,
  /** Null where the time was told before. */
  now: { readonly iso: string } | null,
): Section {
  const hooks = (event.hookData ?? []).filter(
    ({ text, persist }) => !persist && text.trim() !== "",
  );
  const time =
    now === null
      ? []
      : [`Current time: ${now.iso}`, `Timezone: ${event.timezone?.trim() || "UTC"}`];
  const lines = [
    ...time,
    ...describePlatform(event, role),
    ...hooks.map(({ text }) => text.trim()),
  ];
  return { name: "event", layer: "event", stability: "turn", text: lines.join("\n") };
}

/** A worker speaks with its manager alone, so it is not told where people are. */
function describePlatform(
  { platform, platformActions = [] }: EventMoment,
  role: AgentRole,
): string[] {
  const name = platform?.trim() ?? "";
  if (role === "worker" || name === "") return [];
  const actions =
    platformActions.length === 0 ? [] : [`Available actions: ${platformActions.join(", ")}`];
  return [`Platform: ${name}`, ...actions];
}

/** Providers refuse text without a word, and a message that holds nothing else would leave a gap in the thread. */
export function toBlocks(content: AgentEvent["content"]): readonly Block[] {
  const blocks = typeof content === "string" ? [toText(content)] : content;
  return blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
}

function toText(text: string): Block {
  return { type: "text", text };
}
