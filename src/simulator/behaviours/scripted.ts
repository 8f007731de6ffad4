// scripted: answers from a script, and fails if the script has no answer.
import { StrataError } from "../../core/strata-error.ts";
import type { Model, Prompt, Reply, ReplyPart } from "../prompt.ts";
import { lastUserText, shorten } from "./summariser.ts";

export interface ScriptStep {
  /** Answers any request that meets this condition, in any order. */
  readonly when?: Condition | undefined;
  /** Answers the next request in order, which must meet this condition. */
  readonly expect?: Condition | undefined;
  /** How many requests it answers. Default: 1. */
  readonly times?: number | "always" | undefined;
  readonly thinking?: string | undefined;
  readonly text?: string | undefined;
  readonly toolCalls?: readonly ScriptedCall[] | undefined;
  /** Default: "tool use" with tool calls, else "end". */
  readonly stop?: Reply["stop"] | undefined;
  /** In TypeScript: computes the reply from the request. */
  readonly reply?: ((prompt: Prompt) => Reply) | undefined;
}

export interface ScriptedCall {
  readonly name: string;
  /** An object, or text for tools that take free text. */
  readonly input: unknown;
}

/** All given fields must match. In TypeScript it can be a function. */
export type Condition = ConditionFields | ((prompt: Prompt) => boolean);

export interface ConditionFields {
  /** Part of the last user text. */
  readonly userText?: string | undefined;
  /** Part of a result of the last tools. */
  readonly toolResult?: string | undefined;
  /** Number of replies in the conversation including this one, from 1. */
  readonly turn?: number | undefined;
  /** Part of the system prompt. */
  readonly system?: string | undefined;
  readonly model?: string | undefined;
  readonly wants?: Prompt["wants"] | undefined;
}

export function createScripted(steps: readonly ScriptStep[]): Model {
  let used = steps.map(() => 0);
  const take = (index: number): ScriptStep | undefined => {
    used[index] = (used[index] ?? 0) + 1;
    return steps[index];
  };
  const isLeft = (step: ScriptStep, index: number): boolean =>
    step.times === "always" || (used[index] ?? 0) < (step.times ?? 1);

  const answer = (prompt: Prompt): Reply => {
    const free = steps.findIndex(
      (step, index) => step.when !== undefined && isLeft(step, index) && holds(step.when, prompt),
    );
    if (free !== -1) return toReply(take(free), prompt);
    const next = steps.findIndex((step, index) => step.when === undefined && isLeft(step, index));
    const step = steps[next];
    if (step === undefined) throw noStep(prompt, steps);
    if (step.expect !== undefined && !holds(step.expect, prompt)) {
      throw unexpectedRequest(prompt, step.expect, next);
    }
    return toReply(take(next), prompt);
  };
  return Object.assign(answer, {
    reset: () => {
      used = steps.map(() => 0);
    },
  });
}

function holds(condition: Condition, prompt: Prompt): boolean {
  if (typeof condition === "function") return condition(prompt);
  const { userText, toolResult, turn, system, model, wants } = condition;
  return (
    (userText === undefined || lastUserText(prompt).includes(userText)) &&
    (toolResult === undefined || lastResults(prompt).some((text) => text.includes(toolResult))) &&
    (turn === undefined || turnOf(prompt) === turn) &&
    (system === undefined || prompt.system.includes(system)) &&
    (model === undefined || prompt.model === model) &&
    (wants === undefined || prompt.wants === wants)
  );
}

function lastResults({ turns }: Prompt): readonly string[] {
  const last = turns.findLast(({ toolResults }) => toolResults.length > 0);
  return last?.toolResults.map(({ text }) => text) ?? [];
}

function turnOf({ turns }: Prompt): number {
  return turns.filter(({ role }) => role === "assistant").length + 1;
}

function toReply(step: ScriptStep | undefined, prompt: Prompt): Reply {
  if (step?.reply !== undefined) return step.reply(prompt);
  const { thinking, text, toolCalls = [], stop } = step ?? {};
  const parts: ReplyPart[] = [
    ...(thinking === undefined ? [] : [{ kind: "thinking" as const, text: thinking }]),
    ...(text === undefined ? [] : [{ kind: "text" as const, text }]),
    ...toolCalls.map(({ name, input }) => ({
      kind: "tool use" as const,
      name,
      inputJson: JSON.stringify(input),
    })),
  ];
  return { parts, stop: stop ?? (toolCalls.length > 0 ? "tool use" : "end") };
}

function noStep(prompt: Prompt, steps: readonly ScriptStep[]): StrataError {
  return new StrataError(
    "not-found",
    `the script has no step left for this request: ${describePrompt(prompt)}`,
    `it has ${steps.length} steps; add one, or give one "times": "always"`,
  );
}

function unexpectedRequest(prompt: Prompt, expected: Condition, index: number): StrataError {
  const wanted =
    typeof expected === "function" ? "what its function accepts" : JSON.stringify(expected);
  return new StrataError(
    "not-found",
    `step ${index + 1} of the script expects ${wanted}, but the request is: ${describePrompt(prompt)}`,
    "change the step, or let it answer in any order with `when`",
  );
}

function describePrompt(prompt: Prompt): string {
  const results = lastResults(prompt).map((text) => `"${shorten(text, 80)}"`);
  return [
    `turn ${turnOf(prompt)} of ${prompt.model}`,
    `user text "${shorten(lastUserText(prompt), 120)}"`,
    ...(results.length === 0 ? [] : [`tool results ${results.join(", ")}`]),
    ...(prompt.wants === "summary" ? ["wants a summary"] : []),
  ].join(", ");
}
