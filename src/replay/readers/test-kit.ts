// For tests: readers on hand-written lines, with a counter of one token per character.
import { fieldsOf } from "../../core/message/fields.ts";
import type { Recorded, RecordedBlock, RecordedRequest } from "../recording.ts";
import { createDrafting } from "./block-draft.ts";
import type { CreateReader, Run } from "./line-reader.ts";
import { createRun } from "./run.ts";

export const charactersCounter: { count(text: string): number } = { count: (text) => text.length };

/** The values read from a file with these lines. */
export function recordingsOf(
  create: CreateReader,
  lines: readonly unknown[],
  { run = createRun(), excerpts = true }: { run?: Run; excerpts?: boolean } = {},
): Recorded[] {
  const drafting = createDrafting(charactersCounter, excerpts);
  const reader = create({ file: "a.jsonl", drafting, run });
  return [
    ...lines.flatMap((line, index) => reader.read(fieldsOf(line), index + 1)),
    ...reader.end(),
  ];
}

export function requestsIn(recorded: readonly Recorded[]): RecordedRequest[] {
  return recorded.flatMap((each) => (each.type === "request" ? [each.request] : []));
}

export function skippedIn(recorded: readonly Recorded[]): string[] {
  return recorded.flatMap((each) =>
    each.type === "skipped" ? [`${each.line ?? "file"}: ${each.reason}`] : [],
  );
}

/** All items of a stream. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** All blocks of each request, rebuilt from kept and appended blocks. */
export function promptsIn(recorded: readonly Recorded[]): RecordedBlock[][] {
  const threads = new Map<string, RecordedBlock[]>();
  return requestsIn(recorded).map(({ thread, keep, append }) => {
    const prompt = [...(threads.get(thread) ?? []).slice(0, keep), ...append];
    threads.set(thread, prompt);
    return prompt;
  });
}

/** Role and text of each block, per request. */
export function excerptsIn(recorded: readonly Recorded[]): string[][] {
  return promptsIn(recorded).map((prompt) =>
    prompt.map(({ role, excerpt }) => `${role}: ${excerpt ?? ""}`),
  );
}
