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

const stepFields = "when expect times thinking text toolCalls stop reply".split(" ");
const conditionFields = "userText toolResult turn system model wants".split(" ");

function parseStep(value: unknown, place: string): ScriptStep {
  const fields = read.fields(value, place, stepFields);
  const member = <Value>(name: string, reader: Reader<Value>): Value | undefined =>
    read.optional(fields[name], `${place}.${name}`, reader) ?? undefined;
  const step: ScriptStep = {
    when: member("when", parseCondition),
    expect: member("expect", parseCondition),
    times: member("times", (times, at) => (times === "always" ? times : read.count(times, at))),
    thinking: member("thinking", read.text),
    text: member("text", read.text),
    toolCalls: member("toolCalls", (calls, at) => read.list(calls, at, parseCall)),
    stop: member("stop", (stop, at) => read.oneOf(stop, ["end", "tool use", "output limit"], at)),
    reply: member("reply", readFunction),
  };
  const says = [step.text, step.thinking, step.toolCalls, step.reply, step.stop];
  if (says.some((part) => part !== undefined)) return step;
  throw new StrataError(
    "config-invalid",
    `${place} has no reply`,
    "add text, toolCalls, thinking, stop or reply",
  );
}

type Reader<Value> = (value: unknown, place: string) => Value;

function parseCondition(value: unknown, place: string): Condition {
  if (typeof value === "function") return readFunction(value, place);
  const fields = read.fields(value, place, conditionFields);
  const member = <Value>(name: string, reader: Reader<Value>): Value | undefined =>
    read.optional(fields[name], `${place}.${name}`, reader) ?? undefined;
  return {
    userText: member("userText", read.text),
    toolResult: member("toolResult", read.text),
    turn: member("turn", read.count),
    system: member("system", read.text),
    model: member("model", read.text),
    wants: member("wants", (wish, at) => read.oneOf(wish, ["reply", "summary"], at)),
  };
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
