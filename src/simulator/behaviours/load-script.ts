// Loads a script from a JSON file, or from a TypeScript or JavaScript module that exports `steps`.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  isFields,
  readCount,
  readFields,
  readList,
  readOneOf,
  readOptional,
  readRecord,
  readText,
} from "../../core/models/read-fields.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Condition, ScriptedCall, ScriptStep } from "./scripted.ts";

export async function loadScript(file: string): Promise<readonly ScriptStep[]> {
  const value = file.endsWith(".json") ? await readJson(file) : await importSteps(file);
  return parseScript(value, file);
}

/** Steps, or an object with `steps`. */
export function parseScript(value: unknown, place: string): readonly ScriptStep[] {
  const list = isFields(value) ? readFields(value, place, ["steps"])["steps"] : value;
  const steps = readList(list, place, parseStep);
  if (steps.length > 0) return steps;
  throw new StrataError("config-invalid", `${place} has no steps`, "add at least one step");
}

const stepFields = "when expect times thinking text toolCalls stop reply".split(" ");
const conditionFields = "userText toolResult turn system model wants".split(" ");

function parseStep(value: unknown, place: string): ScriptStep {
  const fields = readFields(value, place, stepFields);
  const read = <Value>(name: string, reader: Reader<Value>): Value | undefined =>
    readOptional(fields[name], `${place}.${name}`, reader) ?? undefined;
  const step: ScriptStep = {
    when: read("when", parseCondition),
    expect: read("expect", parseCondition),
    times: read("times", (times, at) => (times === "always" ? times : readCount(times, at))),
    thinking: read("thinking", readText),
    text: read("text", readText),
    toolCalls: read("toolCalls", (calls, at) => readList(calls, at, parseCall)),
    stop: read("stop", (stop, at) => readOneOf(stop, ["end", "tool use", "output limit"], at)),
    reply: read("reply", readFunction),
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
  const fields = readFields(value, place, conditionFields);
  const read = <Value>(name: string, reader: Reader<Value>): Value | undefined =>
    readOptional(fields[name], `${place}.${name}`, reader) ?? undefined;
  return {
    userText: read("userText", readText),
    toolResult: read("toolResult", readText),
    turn: read("turn", readCount),
    system: read("system", readText),
    model: read("model", readText),
    wants: read("wants", (wish, at) => readOneOf(wish, ["reply", "summary"], at)),
  };
}

function parseCall(value: unknown, place: string): ScriptedCall {
  const { name, input } = readFields(value, place, ["name", "input"]);
  return {
    name: readText(name, `${place}.name`),
    input: typeof input === "string" ? input : readRecord(input ?? {}, `${place}.input`),
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
    const exported = isFields(module) ? (module["steps"] ?? module["default"]) : undefined;
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
  const reason = error instanceof Error ? error.message : String(error);
  return new StrataError(
    "input-invalid",
    `the script ${file} cannot be read: ${reason}`,
    "give a JSON file, or a module that exports steps",
    { cause: error },
  );
}
