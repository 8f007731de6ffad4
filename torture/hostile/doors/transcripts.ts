// Transcripts of other programs: the reader of each format line by line, and files through the whole replay.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../harness/random-message.ts";
import { isObject, type Fields } from "../../../src/core/message/fields.ts";
import { cheapCounter } from "../../../src/core/tokens/cheap-counter.ts";
import { createDrafting } from "../../../src/replay/readers/block-draft.ts";
import { detectFormat } from "../../../src/replay/readers/detect-format.ts";
import { createRun } from "../../../src/replay/readers/run.ts";
import { readRecordings } from "../../../src/replay/readers/read-recordings.ts";
import { listPolicies } from "../../../src/core/cache/policies.ts";
import { renderReplay } from "../../../src/cli/replay/render-replay.ts";
import { replay } from "../../../src/replay/replay.ts";
import type { Recorded } from "../../../src/replay/recording.ts";
import { collect } from "../../../src/replay/readers/test-kit.ts";
import type { OpenDoor, Outcome, Refusal } from "../door.ts";
import {
  keysIn,
  mutateBytes,
  mutateJson,
  mutateText,
  oddJson,
  pick,
  size,
  type Json,
} from "../mutate.ts";
import { makePipe } from "../odd-files.ts";
import { formatSamples } from "../transcript-samples.ts";

interface Sample {
  readonly lines: readonly Json[];
  readonly known: readonly string[];
}

function samples(): readonly Sample[] {
  const example = new URL("../../../fixtures/transcript.jsonl", import.meta.url);
  const claudeCode = readFileSync(example, "utf8")
    .trim()
    .split("\n")
    .map((line): Json => JSON.parse(line));
  return [claudeCode, ...formatSamples].map((lines) => ({ lines, known: keysIn(lines) }));
}

/** Without the net below a reader, which turns its mistakes into skipped lines. */
export function openLines(): OpenDoor {
  const all = samples();
  return {
    attempt: (random) => {
      const texts = makeLines(random, pick(random, all));
      const fields: readonly Fields[] = texts.flatMap((text) => parsed(text));
      const source = {
        file: "a.jsonl",
        drafting: createDrafting(cheapCounter, true),
        run: createRun(),
      };
      const [create] = fields.flatMap((each) => detectFormat(each) ?? []);
      const reader = create?.(source);
      if (reader === undefined) return { isAccepted: false, outputs: [] };
      const recorded = [
        ...fields.flatMap((each, at) => reader.read(each, at + 1)),
        ...reader.end(),
      ];
      return toOutcome(recorded);
    },
  };
}

function toOutcome(recorded: readonly Recorded[]): Outcome {
  const refusals = recorded.flatMap((each): Refusal[] =>
    each.type === "skipped" ? [{ code: "skipped", hint: each.reason }] : [],
  );
  return { isAccepted: recorded.some(({ type }) => type === "request"), outputs: [], refusals };
}

function makeLines(random: Random, { lines, known }: Sample): readonly string[] {
  return lines.flatMap((line) => {
    const kind = random();
    if (kind < 0.75) return [JSON.stringify(line)];
    if (kind < 0.8) return [];
    if (kind < 0.84) return [JSON.stringify(line), JSON.stringify(line)];
    if (kind < 0.96) return [mutateJson(random, line, known)];
    return [random() < 0.5 ? mutateText(random, JSON.stringify(line)) : oddJson(random, known)];
  });
}

function parsed(text: string): readonly Fields[] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? [value] : [];
  } catch {
    return [];
  }
}

export function openFiles(folder: string): OpenDoor {
  const all = samples();
  const policies = listPolicies();
  const place = join(folder, "sessions");
  const empty = (): void => {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place);
  };
  empty();
  return {
    reset: empty,
    attempt: async (random) => {
      fill(random, place, all);
      const read = readRecordings([place], { counter: cheapCounter, excerpts: random() < 0.5 });
      if (random() < 0.5) return toOutcome(await collect(read));
      const model = random() < 0.5 ? null : "claude-sonnet-5-5";
      const report = await replay(read, { policies, model, groupBy: "session" });
      const outputs = [
        JSON.stringify(report),
        renderReplay(report, { groupBy: "session", seconds: 1, page: undefined, excerpts: false }),
      ];
      const refusals = report.skipped.map(({ reason }) => ({ code: "skipped", hint: reason }));
      return { isAccepted: report.requests > 0, outputs, refusals };
    },
  };
}

function fill(random: Random, place: string, all: readonly Sample[]): void {
  const name = join(place, pick(random, ["a.jsonl", "b.json", "c.ndjson"]));
  const kind = random();
  if (kind < 0.01) makePipe(name);
  else if (kind < 0.03)
    symlinkSync(
      pick(random, [
        place,
        "/dev/zero",
        "/proc/self/environ",
        "missing",
        "../../../canary/secret.txt",
      ]),
      name,
    );
  else if (kind < 0.04) mkdirSync(name);
  else {
    const text = makeLines(random, pick(random, all)).join(
      pick(random, ["\n", "\n", "\r\n", "\n\n"]),
    );
    writeFileSync(name, random() < 0.2 ? mutateBytes(random, Buffer.from(text)) : text);
  }
  if (random() < 0.1) writeFileSync(join(place, "d.jsonl"), "x".repeat(size(random, 100_000)));
}
