// Changes strata.yaml while sessions work, in every way files change, including broken files. No turn fails, every
// valid change applies from the next call on, and every broken file is reported and changes nothing.
import { atLeast, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { runReload, type Reloaded } from "./engine/reload.ts";

export const experiment: Experiment = {
  summary:
    "strata.yaml changes while turns run: in force on the next call, or reported and without effect",
  options: {
    turns: "how many, 1000 by default",
    changes: "how often the file changes, 50 by default",
    seed: "where to start, 1 by default",
  },
  async run(settings) {
    const turns = wholeNumber(settings, "turns", 1000);
    const changes = wholeNumber(settings, "changes", 50);
    const seed = wholeNumber(settings, "seed", 1);
    const { progress } = settings;
    const run = await runReload({ turns, changes, seed, progress });
    for (const problem of problemsOf(run).slice(0, 10)) progress(`PROBLEM ${problem}`);
    return {
      figures: {
        seed,
        sessions: run.sessions,
        requests: run.requests,
        folds: run.folds,
        "good changes": run.goodChanges,
        "broken changes": run.brokenChanges,
        ...Object.fromEntries(run.changes),
      },
      checks: [
        atLeast("turns", run.turns, turns),
        atLeast("changes", run.goodChanges + run.brokenChanges, changes),
        exactly("turns that failed", run.failedTurns.length, 0),
        exactly("calls otherwise than the file said", run.late.length, 0),
        exactly("broken files not reported once, or others reported", run.misreported.length, 0),
        exactly(
          "problems of check(), of the trace, places where the key stands",
          run.problems.length,
          0,
        ),
      ],
    };
  },
};

function problemsOf({ failedTurns, late, misreported, problems }: Reloaded): readonly string[] {
  return [...failedTurns, ...late, ...misreported, ...problems];
}
