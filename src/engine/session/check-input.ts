// Refuses what an application without types may pass in, and what a provider would refuse later. Nothing is recorded before.
import { promptCachingWishes, type RoutingConfig } from "../../core/config/schema/models.ts";
import {
  capMax,
  debounceMsMax,
  queueDrops,
  queueModes,
  type QueueConfig,
} from "../../core/config/schema/queue.ts";
import { isAttachment, type AgentEvent } from "../../core/layers/event.ts";
import { agentRoles } from "../../core/message/assembled-context.ts";
import { isCount, isObject } from "../../core/message/fields.ts";
import type { EngineConfig } from "./engine-config.ts";
import type { SpendingOptions } from "./spending.ts";
import type { Message } from "../../core/message/message.ts";
import { validateConversation } from "../../core/message/validate-conversation.ts";
import { validateMessage } from "../../core/message/validate-message.ts";
import { violation, type Rule, type Violation } from "../../core/message/violation.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";

/** Text, or an event with content that the user's role may have. */
export function checkEvent(given: unknown): AgentEvent {
  if (typeof given === "string") return { content: given, source: "human" };
  if (!isEvent(given)) {
    throw invalid(
      "a turn begins with a message or an event",
      'give text, or { content: "…", source: "human" }',
    );
  }
  const problem = readable(() => findEventProblem(given));
  if (problem === null) return given;
  throw invalid(
    `the event cannot be sent: ${problem}`,
    "give content as text or as a list of blocks, and the other fields as docs/engine.md has them",
  );
}

function isEvent(given: unknown): given is AgentEvent {
  return isObject(given) && "content" in given;
}

function findEventProblem(event: AgentEvent): string | null {
  const { id, content, source, timezone, platform, channel, sender } = event;
  const { platformActions = [], hookData = [], attachments = [] } = event;
  const texts = Object.entries({ id, source, timezone, platform, channel, sender });
  const [wrong] = texts.find(([, text]) => text !== undefined && typeof text !== "string") ?? [];
  if (wrong !== undefined) return `${wrong} must be text`;
  if (id?.trim() === "") return "id must not be blank";
  if (!isListOf(platformActions, (each) => typeof each === "string")) {
    return "platformActions must be a list of texts";
  }
  if (!isListOf(hookData, (each) => isObject(each) && typeof each["text"] === "string")) {
    return "hookData must be a list of { text, persist }";
  }
  if (!isListOf(attachments, isAttachment)) {
    return "attachments must be a list of { path, lines }, with lines as [first, last] from 1";
  }
  if (typeof content === "string") return null;
  const [first] = validateMessage({ role: "user", content }, "event").filter(isRefused);
  return first === undefined ? null : `${first.path} ${first.message}`;
}

function isListOf(value: unknown, fits: (each: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits);
}

/** What a value breaks when it is read: a getter that throws, or an object within itself. */
function readable(find: () => string | null): string | null {
  try {
    return find();
  } catch (error) {
    return `it cannot be read (${messageOf(error)})`;
  }
}

/** Options of a run, of a change or of an engine: an object, or nothing. */
export function checkOptions(options: unknown, texts: readonly string[]): void {
  if (options === undefined) return;
  if (!isObject(options)) throw invalid("the options are no object", "give { … }, or nothing");
  for (const name of texts) {
    if (options[name] !== undefined) checkName(options[name], name);
  }
  const { signal } = options;
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw invalid("signal is no AbortSignal", "give the signal of an AbortController, or nothing");
}

/** What a run does if the session is busy; undefined for the configured mode. */
export function checkMode(given: unknown): void {
  if (given === undefined || queueModes.some((mode) => mode === given)) return;
  throw invalid(
    `mode is ${describe(given)}, and must be a known one`,
    `give one of ${queueModes.join(", ")}`,
  );
}

/** A name that is not empty. */
export function checkName(given: unknown, what: string): string {
  if (typeof given === "string" && given.trim() !== "") return given;
  throw invalid(`${what} is ${describe(given)}, and must be text`, `give ${what} as text`);
}

export function checkFork<From extends { readonly sessionId: string }>(from: From): From {
  const given: unknown = from;
  if (!isObject(given)) throw invalid("there is no session to fork", "give { sessionId: … }");
  checkOptions(given, ["turnId", "id"]);
  checkName(given["sessionId"], "the session to fork");
  return from;
}

/** For error messages: never throws, and never repeats a long value. */
function describe(given: unknown): string {
  if (given === null) return "null";
  return given === "" ? "empty" : typeof given === "object" ? "an object" : `a ${typeof given}`;
}

function invalid(message: string, hint: string): StrataError {
  return new StrataError("input-invalid", message, hint);
}

/** Whether an option fits, and what it must be. */
export type Check = readonly [fits: (value: unknown) => boolean, wanted: string];

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const hasAll =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    isObject(value) && names.every((name) => value[name] !== undefined);
const oneOf =
  (...words: readonly (string | null)[]) =>
  (value: unknown): boolean =>
    words.some((word) => word === value);

const routingFields: Readonly<Record<keyof RoutingConfig, (value: unknown) => boolean>> = {
  isSticky: (value) => typeof value === "boolean",
  rules: Array.isArray,
  patterns: Array.isArray,
  workspaceDefault: (value) => value === null || isText(value),
  fallback: (value) => Array.isArray(value) && value.every(isText),
  fallbackRestSeconds: isCount,
  promptCaching: oneOf(...promptCachingWishes, null),
};

const queueFields: Readonly<Record<keyof QueueConfig, (value: unknown) => boolean>> = {
  mode: oneOf(...queueModes),
  debounceMs: (value) => isCount(value) && value <= debounceMsMax,
  cap: (value) => isPositive(value) && Number(value) <= capMax,
  drop: oneOf(...queueDrops),
};

const spendingFields: Readonly<Record<keyof SpendingOptions, (value: unknown) => boolean>> = {
  sessionUsd: isDollars,
  agentUsd: isDollars,
  dayUsd: isDollars,
  timezone: isTimezone,
};

/** An object of these fields alone; each may be missing. A misspelled one would be dropped silently. */
function fitsAll(
  value: unknown,
  fields: Readonly<Record<string, (value: unknown) => boolean>>,
): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(([name, each]) => isUnset(each, fields[name] ?? (() => false)))
  );
}

/** Everything but the model may be missing. A turn checks `callsMax`. */
const configChecks: Readonly<Record<Exclude<keyof EngineConfig, "callsMax">, Check>> = {
  model: [isText, "the name of a model"],
  agent: [isText, "a name"],
  role: [oneOf(...agentRoles), `one of ${agentRoles.join(", ")}`],
  policy: [
    (value) => isText(value) || hasAll("name", "layout", "markers")(value),
    "the name of a policy, or a policy",
  ],
  padding: [oneOf("auto", "always", "off"), "auto, always or off"],
  options: [
    (value) => isObject(value) && isUnset(value["outputTokensMax"], isPositive),
    "an object of call options; outputTokensMax is a whole number from 1",
  ],
  compaction: [hasAll("auto", "clearing"), "an object such as defaultCompactionSettings"],
  reserves: [
    (value) => isObject(value) && isCount(value["responseTokens"]) && isCount(value["toolTokens"]),
    "{ responseTokens, toolTokens }",
  ],
  pace: [oneOf("human", "tool loop", "worker", "cron", "one-shot"), "a known pace, such as human"],
  workspacePath: [isText, "a folder"],
  moment: [isObject, "{ sender, channel }"],
  queue: [
    (value) => fitsAll(value, queueFields),
    `{ mode: ${queueModes.join(", ")}; debounceMs up to ${debounceMsMax}; cap from 1 to ${capMax}; drop: ${queueDrops.join(", ")} }`,
  ],
  keepWarm: [
    (value) => fitsAll(value, { usdPerHour: (usd) => isDollars(usd) && usd !== 0 }),
    "{ usdPerHour }, a number of dollars above 0",
  ],
  storedPrefix: [
    (value) => fitsAll(value, { usdPerHour: (usd) => isDollars(usd) && usd !== 0 }),
    "{ usdPerHour }, a number of dollars above 0",
  ],
  routing: [
    (value) => fitsAll(value, routingFields),
    `an object with ${Object.keys(routingFields).join(", ")}, as docs/engine.md has them`,
  ],
  spending: [
    (value) => fitsAll(value, spendingFields),
    "{ sessionUsd, agentUsd, dayUsd } in dollars, and a timezone such as Europe/Berlin",
  ],
};

function isDollars(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 9_000_000;
}

export function isTimezone(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: value }).format(0) !== "";
  } catch {
    return false;
  }
}

function isPositive(value: unknown): boolean {
  return isCount(value) && value >= 1;
}

function isUnset(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || fits(value);
}

/** Throws for the first option that does not fit. */
export function checkFields(
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  needed: string,
): void {
  if (!isObject(given)) {
    throw new StrataError("input-invalid", "the options are no object", `give { ${needed}: … }`);
  }
  for (const [name, [fits, wanted]] of Object.entries(checks)) {
    const value = given[name];
    if (value === undefined ? name !== needed : fits(value)) continue;
    throw new StrataError(
      "input-invalid",
      `the option ${name} is ${value === undefined ? "missing" : "not what it must be"}`,
      `give ${wanted}`,
    );
  }
}

export function checkConfig(config: EngineConfig): EngineConfig {
  checkFields(config, configChecks, "model");
  return config;
}

/** A conversation to continue. */
export function checkMessages(messages: readonly Message[]): void {
  const hint = "give whole turns in their order: every tool use with its result";
  const given: unknown = messages;
  if (!Array.isArray(given)) throw invalid("the given messages are no list", hint);
  const problem = readable(() => {
    const found = validateConversation(messages);
    const violations = (found.length > 0 ? found : waitingIn(messages)).filter(isRefused);
    const [first] = violations;
    if (first === undefined) return null;
    const more = violations.length === 1 ? "" : `, and ${violations.length - 1} more`;
    return `${first.path}: ${first.message}${more}`;
  });
  if (problem !== null) throw invalid(`the given messages cannot be sent: ${problem}`, hint);
}

function isRefused({ rule }: Violation): boolean {
  return !mended.has(rule);
}

/** The encoder drops or maps these, and reports it. */
const mended: ReadonlySet<Rule> = new Set([
  "content-empty",
  "text-empty",
  "json-stale",
  "role-first",
]);

/** Open tool uses at the end. No tool will run for them, and the next message would take the place of their results. */
function waitingIn(messages: readonly Message[]): readonly Violation[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || !last.content.some(({ type }) => type === "tool_use"))
    return [];
  const path = `messages.${messages.length - 1}`;
  return [violation(path, "tool-use-unanswered", "its tool uses have no results")];
}
