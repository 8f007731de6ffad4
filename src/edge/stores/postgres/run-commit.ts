// Runs a commit exactly once, even if the connection is lost in the middle.
import type { Commit, CommitResult } from "../sql/database.ts";
import { composeCommit, planSteps, type NumberedStatement } from "./compose-commit.ts";
import type { Connections } from "./connections.ts";
import type { Address } from "./connection-string.ts";
import {
  isCardinality,
  isMissingReference,
  isUnsent,
  kindOfFailure,
  takenTable,
  toStoreError,
  unknownWhether,
} from "./postgres-errors.ts";
import { retry, type RetryRules } from "./retry.ts";
import type { Run } from "./run-statements.ts";
import { numberPlaces } from "./to-postgres-sql.ts";

/** After a lost connection, asks `landed` before repeating, and again afterwards: the first attempt may still run. */
export async function runCommit(
  connections: Connections,
  commit: Commit,
  address: Address,
  rules: RetryRules,
): Promise<CommitResult> {
  let isUnsure = false;
  const attempt = async (): Promise<CommitResult> => {
    if (isUnsure && (await hasLanded(connections, commit))) return { kind: "done" };
    let isSent = false;
    try {
      const result = await connections.use((run) => tryCommit(run, commit, () => (isSent = true)));
      if (!isUnsure || result.kind === "done") return result;
      return (await hasLanded(connections, commit)) ? { kind: "done" } : result;
    } catch (error) {
      if (isSent && kindOfFailure(error) === "lost" && !isUnsent(error)) {
        isUnsure = true;
        if (commit.landed === undefined) throw unknownWhether(error, address);
      }
      throw error;
    }
  };
  try {
    return await retry(attempt, rules);
  } catch (error) {
    throw isUnsure ? unknownWhether(error, address) : toStoreError(error, address);
  }
}

async function hasLanded(connections: Connections, { landed }: Commit): Promise<boolean> {
  if (landed === undefined) return false;
  const { sql, values } = landed();
  const { rows } = await connections.use((run) => run(numberPlaces(sql), values));
  return rows.length > 0;
}

async function tryCommit(run: Run, commit: Commit, onSend: () => void): Promise<CommitResult> {
  const whole = composeCommit(commit);
  try {
    return whole === null
      ? await runSteps(run, commit, onSend)
      : await runWhole(run, commit, whole, onSend);
  } catch (error) {
    const table = takenTable(error);
    if (table !== undefined) return { kind: "taken", table };
    if (isMissingReference(error)) return { kind: "refused", guard: "reference" };
    // A guard matched two rows. Step by step shows which one.
    if (whole !== null && isCardinality(error)) return runSteps(run, commit, onSend);
    throw error;
  }
}

async function runWhole(
  run: Run,
  commit: Commit,
  { sql, values }: NumberedStatement,
  onSend: () => void,
): Promise<CommitResult> {
  onSend();
  const { rows } = await run(sql, values);
  const failed = commit.guards.find((_guard, index) => rows[0]?.[`g${index}`] !== 1);
  return failed === undefined ? { kind: "done" } : { kind: "refused", guard: failed.name };
}

/** Two round trips: the guards, then everything else. Nothing counts before the COMMIT. */
async function runSteps(run: Run, commit: Commit, onSend: () => void): Promise<CommitResult> {
  const { guards, writes } = planSteps(commit);
  const send = ({ sql, values }: NumberedStatement): ReturnType<Run> => run(sql, values);
  let refused;
  try {
    const [, ...held] = await settle([run("BEGIN"), ...guards.map(send)]);
    refused = commit.guards.find((_guard, index) => held[index]?.rowCount !== 1);
  } catch (error) {
    await rollBack(run);
    throw error;
  }
  if (refused !== undefined) {
    await rollBack(run);
    return { kind: "refused", guard: refused.name };
  }
  onSend();
  // After a failure the server answers the COMMIT with a rollback.
  await settle([...writes.map(send), run("COMMIT")]);
  return { kind: "done" };
}

/** If this fails, the connection is gone, and its transaction with it. */
export async function rollBack(run: Run): Promise<void> {
  await run("ROLLBACK").catch(() => {});
}

/** Waits for all. Throws the first failure; later ones only follow from it. */
async function settle<T>(sent: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(sent);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}
