// One round: nodes work, and are paused and killed while they compaction; then the store is checked.
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../harness/random-message.ts";
import { startWorkerProcess, type WorkerProcess } from "../../harness/worker-process.ts";
import type { PlantedFault } from "./faults.ts";
import type { Journal } from "./journal.ts";
import type { NodeTask } from "./node.ts";
import type { Counted, NodeEvent } from "./node-event.ts";
import { verifyStore } from "./verify.ts";

export type RoundKind = "alone" | "competing" | "late holder";

export interface Store {
  readonly where: string;
  readonly journal: Journal;
}

export interface Tally {
  readonly counts: Map<Counted | RoundKind, number>;
  kills: number;
  /** Kills of nodes that held a lock. */
  killsInCompactions: number;
  takenOver: number;
  refusedCompactions: number;
  checked: number;
  problems: number;
  gaveUp: number;
}

export interface Round {
  readonly store: Store;
  readonly kind: RoundKind;
  readonly round: number;
  readonly random: Random;
  readonly providerUrl: string;
  readonly tally: Tally;
  readonly fault: PlantedFault | null;
  readonly progress: (line: string) => void;
}

/** Short, so that abandoned locks expire soon. */
const leaseMs = 400;

export async function playRound(options: Round): Promise<void> {
  const { store, kind, round, random, providerUrl, tally, progress } = options;
  const count = (what: Counted | RoundKind): void => {
    tally.counts.set(what, (tally.counts.get(what) ?? 0) + 1);
  };
  const compactionState = new Set<string>();
  const refusedBefore = store.journal.refusedCompactions();
  const nodes = startNodes(options, compactionState, count);
  await Promise.allSettled(nodes.map(({ ready }) => ready));
  if (kind === "late holder") await makeLate(nodes);
  for (const node of nodes) {
    await waitForMoment(node, random);
    const isCompacting = compactionState.has(node.name);
    if (!(await node.kill())) continue;
    tally.kills += 1;
    if (isCompacting) tally.killsInCompactions += 1;
  }
  count(kind);
  const { where, journal } = store;
  const name = `round ${round}`;
  const found = await verifyStore({
    where,
    name,
    leaseMs,
    providerUrl,
    journal,
    random,
    count,
  }).catch((error: unknown) => ({
    problems: [
      `the store cannot be looked at: ${error instanceof Error ? String(error.stack) : String(error)}`,
    ],
    checked: [],
    takenOver: 0,
  }));
  tally.takenOver += found.takenOver;
  tally.refusedCompactions += journal.refusedCompactions() - refusedBefore;
  tally.checked += found.checked.length;
  tally.problems += found.problems.length;
  for (const problem of found.checked.slice(0, shownMax)) progress(`CHECK ${problem}`);
  for (const problem of found.problems.slice(0, shownMax)) progress(`PROBLEM ${problem}`);
}

const shownMax = 5;

function startNodes(
  { store, kind, round, random, providerUrl, tally, fault, progress }: Round,
  compactionState: Set<string>,
  count: (what: Counted) => void,
): readonly NodeProcess[] {
  const onEvent = (node: string, event: NodeEvent): void => {
    store.journal.add(node, event);
    if (event.at === "count") count(event.what);
    if (event.at === "locked") compactionState.add(node);
    if (event.at === "done" || event.at === "refused") compactionState.delete(node);
    if (event.at !== "problem") return;
    tally.gaveUp += 1;
    progress(`node ${node} gave up: ${event.message}`);
  };
  const sessions = kind === "late holder" ? ["shared"] : ["shared", "bound", `own-${round % 3}`];
  return Array.from({ length: kind === "alone" ? 1 : 2 }, (_, index) => {
    const seed = Math.floor(random() * 2 ** 31);
    const summaryMsMax = kind === "late holder" ? 300 : 40;
    const { where } = store;
    const compactionsFirst = kind === "late holder";
    const task = {
      where,
      seed,
      leaseMs,
      providerUrl,
      sessions,
      summaryMsMax,
      compactionsFirst,
      fault,
    };
    return startNode(`${round}.${index}`, task, onEvent);
  });
}

/** Mostly while the node holds a lock, at any moment of a compaction; often exactly at its commit. */
async function waitForMoment(node: NodeProcess, random: Random): Promise<void> {
  const chance = random();
  if (chance < 0.2) return wait(random() * 400);
  const isCommit = chance < 0.6;
  const isHeard = await node.waitFor(isCommit ? isCompactionCommit : isLock, 1500);
  if (isHeard) await wait(random() * (isCommit ? 8 : 60));
}

function isLock({ at }: NodeEvent): boolean {
  return at === "locked";
}

function isCompactionCommit(event: NodeEvent): boolean {
  return event.at === "try" && event.tried.token !== undefined;
}

/** Pauses a node with a lock until another node has the lock, and resumes it while that one works. */
async function makeLate(nodes: readonly NodeProcess[]): Promise<void> {
  const [late, other] = nodes;
  if (late === undefined || other === undefined) return;
  if (!(await late.waitFor(isBetweenTurns, 5000))) return;
  late.pause();
  await other.waitFor(isBetweenTurns, leaseMs * 4);
  late.resume();
  await wait(leaseMs);
}

function isBetweenTurns(event: NodeEvent): boolean {
  return event.at === "locked" && !event.isInside;
}

interface NodeProcess extends WorkerProcess<NodeEvent> {
  readonly name: string;
}

function startNode(
  name: string,
  task: NodeTask,
  onEvent: (node: string, event: NodeEvent) => void,
): NodeProcess {
  const program = new URL("node.ts", import.meta.url);
  const report = (event: NodeEvent): void => onEvent(name, event);
  return { name, ...startWorkerProcess<NodeEvent>({ program, name, task, onEvent: report }) };
}
