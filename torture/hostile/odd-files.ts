// What can stand where a file is meant: text, bytes, nothing, a folder, a pipe, and links of both kinds.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Random } from "../../harness/random-message.ts";
import { ToolError } from "../../src/core/tools/tool.ts";
import type { Outcome } from "./door.ts";
import { mutateBytes, mutateText, oddText, pick } from "./mutate.ts";

/** The canary, as seen from a door's folder. */
export function canaryFile(folder: string): string {
  return join(folder, "../../canary/secret.txt");
}

/** Puts something odd at a path. Mostly a file, with a changed sample in it; `clean` is applied to each text. */
export function putOddFile(
  random: Random,
  path: string,
  sample: string,
  canary: string,
  clean: (text: string) => string = (text) => text,
): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  const kind = random();
  if (kind < 0.02) makePipe(path);
  else if (kind < 0.06) mkdirSync(path);
  else if (kind < 0.12) {
    symlinkSync(
      pick(random, [canary, dirname(canary), "/dev/zero", "/proc/self/environ", "missing", path]),
      path,
    );
  } else if (kind < 0.13) linkSync(join(dirname(canary), "linked.txt"), path);
  else if (kind < 0.15) {
    writeFileSync(path, sample);
    // Sparse: it takes no room on the disk.
    truncateSync(path, pick(random, [2_000_000, 100_000_000, 5_000_000_000]));
  } else if (kind < 0.5) {
    const bytes = Buffer.from(mutateBytes(random, Buffer.from(sample)));
    writeFileSync(path, clean(bytes.toString("latin1")), "latin1");
  } else if (kind < 0.8) writeFileSync(path, clean(mutateText(random, sample)));
  else if (kind < 0.85) writeFileSync(path, oddText(random));
  else if (kind < 0.87) {
    writeFileSync(path, sample);
    chmodSync(path, pick(random, [0o000, 0o200, 0o444]));
  } else writeFileSync(path, sample);
}

export function makePipe(path: string): void {
  execFileSync(pipeProgram, [path]);
}

const pipeProgram = "mkfifo";

/** A tool's error is a refusal too: its class is the code, and its text says what to do. */
export async function withToolErrors(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { errorClass, message } = error;
    return {
      isAccepted: false,
      outputs: [message],
      refusals: [{ code: errorClass, hint: message }],
    };
  }
}
