// One event → the stored message, and text for this call only. Time enters a prompt only here.
import type { AgentRole, AttachedFile } from "../message/assembled-context.ts";
import { isCount, isObject, parseFields } from "../message/fields.ts";
import type { Block, JsonText, Message } from "../message/message.ts";
import { StrataError } from "../strata-error.ts";
import type { Section } from "./section.ts";

export interface AgentEvent {
  /** Its id at its source, such as a message id or a delivery id. For the ledger; the model does not see it. */
  readonly id?: string;
  readonly content: string | readonly Block[];
  /** Where the event comes from. For the ledger; the model does not see it. */
  readonly source: string;
  /** UTC if missing or blank. */
  readonly timezone?: string;
  readonly platform?: string;
  readonly platformActions?: readonly string[];
  /** Where people write, such as a group or a thread. */
  readonly channel?: string;
  /** Who wrote it. */
  readonly sender?: string;
  readonly hookData?: readonly HookData[];
  /** Files that the event's words are about. For the ledger; what the model should read of them is in `content`. */
  readonly attachments?: readonly AttachedFile[];
}

export interface HookData {
  readonly text: string;
  /** True: stored with the message and sent again. False: sent once. */
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
  readonly channel?: string;
  readonly sender?: string;
  /** Absent for none. */
  readonly attachments?: readonly AttachedFile[];
}

export function readEvent(
  event: AgentEvent,
  role: AgentRole,
  now: { readonly iso: string },
): EventReading {
  const hooks = (event.hookData ?? []).filter(({ text }) => text.trim() !== "");
  const stored = hooks.filter(({ persist }) => persist).map(({ text }) => toText(text));
  const { attachments = [] } = event;
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
      ...(event.channel === undefined ? {} : { channel: event.channel }),
      ...(event.sender === undefined ? {} : { sender: event.sender }),
      ...(attachments.length === 0 ? {} : { attachments }),
    },
  };
}

/** The attachments in the ledger's note on a message. Earlier versions kept none. */
export function attachmentsIn(contextJson: JsonText | null): readonly AttachedFile[] {
  if (contextJson === null) return [];
  const { attachments } = parseFields(contextJson) ?? {};
  return Array.isArray(attachments) ? attachments.filter(isAttachment) : [];
}

export function isAttachment(value: unknown): value is AttachedFile {
  if (!isObject(value)) return false;
  const { path, lines } = value;
  return typeof path === "string" && path.trim() !== "" && (lines === undefined || isRange(lines));
}

function isRange(lines: unknown): boolean {
  if (!Array.isArray(lines) || lines.length !== 2) return false;
  const [first, last]: readonly unknown[] = lines;
  return isCount(first) && isCount(last) && first >= 1 && first <= last;
}

/** An event's circumstances besides its content. */
export type EventMoment = Pick<
  AgentEvent,
  "timezone" | "platform" | "platformActions" | "channel" | "sender" | "hookData"
>;

/** Text for one call only: the time, the platform, hook data that is not stored. */
export function describeMoment(
  event: EventMoment,
  role: AgentRole,
  /** Null if the model already knows the time. */
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

/** A worker speaks only with its manager, so it does not learn about platforms and people. */
function describePlatform(
  { platform, platformActions = [], channel, sender }: EventMoment,
  role: AgentRole,
): string[] {
  if (role === "worker") return [];
  const name = platform?.trim() ?? "";
  const actions =
    name === "" || platformActions.length === 0
      ? []
      : [`Available actions: ${platformActions.join(", ")}`];
  return [
    ...(name === "" ? [] : [`Platform: ${name}`]),
    ...actions,
    ...inOneLine("Channel", channel),
    ...inOneLine("Sender", sender),
  ];
}

/** People choose these names: one with a line break must not look like another line of ours. */
function inOneLine(label: string, value = ""): string[] {
  const text = value.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return text === "" ? [] : [`${label}: ${text}`];
}

/** Providers refuse blank text, and a message of only blank text would leave a gap in the thread. */
export function toBlocks(content: AgentEvent["content"]): readonly Block[] {
  const blocks = typeof content === "string" ? [toText(content)] : content;
  return blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
}

function toText(text: string): Block {
  return { type: "text", text };
}
