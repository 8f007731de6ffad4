// Hostile inputs at every door: no crash, no hang, no key in an output, nothing outside touched, refusals with a hint.
import {
  atLeast,
  exactly,
  UsageError,
  wholeNumber,
  type Experiment,
  type Report,
  type Settings,
} from "../harness/report.ts";
import type { FaultKind } from "./hostile/door.ts";
import { doors } from "./hostile/doors.ts";
import { runHostile, type HostileResult } from "./hostile/run-hostile.ts";

export const experiment: Experiment = {
  summary: "hostile inputs at every door: no crash, hang or leak, and refusals say what to do",
  options: {
    inputs: "how many in all, 1000000 by default; each door has its share",
    seed: "where to start, 1 by default",
    door: `only this one: ${doors.map(({ name }) => name).join(", ")}`,
    only: "only the input with this number; needs --door",
  },
  async run(settings) {
    const { door, only } = settings.options;
    if (door !== undefined && !doors.some(({ name }) => name === door)) {
      throw new UsageError(`--door is one of ${doors.map(({ name }) => name).join(", ")}`);
    }
    if (only !== undefined && (door === undefined || !/^\d+$/.test(only))) {
      throw new UsageError("--only is the number of an input, and needs --door");
    }
    const seed = wholeNumber(settings, "seed", 1);
    const result = await runHostile({
      inputs: wholeNumber(settings, "inputs", 1_000_000),
      seed,
      module: new URL("hostile/doors.ts", import.meta.url).href,
      ...(door === undefined ? {} : { door }),
      ...(only === undefined ? {} : { only: Number(only) }),
      progress: settings.progress,
    });
    return toReport(result, seed, only !== undefined);
  },
};

export type { Settings };

const meanings: Readonly<Record<FaultKind, string>> = {
  crash: "crashes",
  hang: "inputs that take more than a second alone",
  key: "outputs with a planted key",
  outside: "changes outside of the doors' folders",
  hint: "refusals without a code or a hint",
};

/** Every door has its count, and takes some inputs and refuses some: else its inputs would prove little. */
export function toReport(
  { doors: tallies, faults, suspects }: HostileResult,
  seed: number,
  isAlone: boolean,
): Omit<Report, "name"> {
  const all = [...tallies];
  const kinds = Object.entries(meanings) as [FaultKind, string][];
  return {
    figures: {
      seed,
      inputs: all.reduce((sum, [, { inputs }]) => sum + inputs, 0),
      "suspected hangs, tried again alone": suspects,
      ...Object.fromEntries(
        all.map(([name, { inputs, accepted, refused, slowestMs }]) => [
          name,
          `${inputs} inputs, ${accepted} accepted, ${refused} refused, slowest ${Math.round(slowestMs)} ms`,
        ]),
      ),
    },
    checks: [
      ...all.map(([name, { inputs, wanted }]) => atLeast(`${name}: inputs`, inputs, wanted)),
      ...(isAlone
        ? []
        : all.map(([name, { accepted, refused, wanted }]) =>
            atLeast(
              `${name}: accepted and refused, the fewer`,
              Math.min(accepted, refused),
              wanted / 100,
            ),
          )),
      ...kinds.map(([kind, meaning]) =>
        exactly(meaning, faults.filter((fault) => fault.kind === kind).length, 0),
      ),
    ],
  };
}
