// Loads a script from a JSON file, or from a TypeScript or JavaScript module that exports `steps`.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as read from "../../core/models/read-fields.ts";
import { StrataError, messageOf } from "../../core/strata-error.ts";
import type { Condition, ScriptedCall, ScriptStep } from "./scripted.ts";

export async function loadScript(file: string): Promise<readonly ScriptStep[]> {
  const value = file.endsWith(".json") ? await readJson(file) : await importSteps(file);
  return parseScript(value, file);
}

/** Steps, or an object with `steps`. */
export function parseScript(value: unknown, place: string): readonly ScriptStep[] {
  const list = read.isFields(value) ? read.fields(value, place, ["steps"])["steps"] : value;
  const steps = read.list(list, place, parseStep);
  if (steps.length > 0) return steps;
  throw new StrataError("config-invalid", `${place} has no steps`, "add at least one step");
}

function parseStep(value: unknown, place: string): ScriptStep {
  const step: ScriptStep = read.shape(value, place, {
    when: given(parseCondition),
    expect: given(parseCondition),
    times: given((times, at) => (times === "always" ? times : read.count(times, at))),
    thinking: given(read.text),
    text: given(read.text),
    toolCalls: given(read.listOf(parseCall)),
    stop: given(read.choice(["end", "tool use", "output limit"])),
    reply: given(readFunction),
  });
  const says = [step.text, step.thinking, step.toolCalls, step.reply, step.stop];
  if (says.some((part) => part !== undefined)) return step;
  throw new StrataError(
    "config-invalid",
    `${place} has no reply`,
    "add text, toolCalls, thinking, stop or reply",
  );
}

/** Undefined where the field is not given. */
function given<Value>(reader: read.Reader<Value>): read.Reader<Value | undefined> {
  return (value, place) => read.optional(value, place, reader) ?? undefined;
}

function parseCondition(value: unknown, place: string): Condition {
  if (typeof value === "function") return readFunction(value, place);
  return read.shape(value, place, {
    userText: given(read.text),
    toolResult: given(read.text),
    turn: given(read.count),
    system: given(read.text),
    model: given(read.text),
    wants: given(read.choice(["reply", "summary"])),
  });
}

function parseCall(value: unknown, place: string): ScriptedCall {
  const { name, input } = read.fields(value, place, ["name", "input"]);
  return {
    name: read.text(name, `${place}.name`),
    input: typeof input === "string" ? input : read.record(input ?? {}, `${place}.input`),
  };
}

function isFunction(value: unknown): value is (...given: unknown[]) => never {
  return typeof value === "function";
}

/** The result type of a user's function is unknown until it runs. */
function readFunction(value: unknown, place: string): (...given: unknown[]) => never {
  if (isFunction(value)) return value;
  throw new StrataError(
    "config-invalid",
    `${place} is not a function`,
    "functions need a script in TypeScript or JavaScript",
  );
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function importSteps(file: string): Promise<unknown> {
  try {
    const module: unknown = await import(pathToFileURL(resolve(file)).href);
    const exported = read.isFields(module) ? (module["steps"] ?? module["default"]) : undefined;
    if (exported !== undefined) return exported;
  } catch (error) {
    throw unreadable(file, error);
  }
  throw new StrataError(
    "config-invalid",
    `${file} exports no steps`,
    "export const steps = [{ text: … }]",
  );
}

function unreadable(file: string, error: unknown): StrataError {
  const reason = messageOf(error);
  return new StrataError(
    "input-invalid",
    `the script ${file} cannot be read: ${reason}`,
    "give a JSON file, or a module that exports steps",
    { cause: error },
  );
}
