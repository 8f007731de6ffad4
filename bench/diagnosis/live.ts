// Live sessions through the engine and through the AI SDK middleware: planted breaks are named right, clean ones give no alarm.
import { playEngine } from "../../harness/live/live-engine.ts";
import { playMiddleware } from "../../harness/live/live-middleware.ts";
import {
  isOwnDoing,
  judgeLive,
  livePlants,
  plantBreak,
  randomLiveTalk,
} from "../../harness/live/live-talk.ts";
import { createRandom } from "../../harness/random-message.ts";
import { atLeast, exactly, type Check, type Figure, type Report } from "../../harness/report.ts";
import { policyNames } from "../../src/core/cache/policy.ts";

type Part = Pick<Report, "figures" | "checks">;
type Progress = (line: string) => void;

const players = { engine: playEngine, middleware: playMiddleware } as const;

type Through = keyof typeof players;

/** Sessions of each kind of break. */
const sessionsPerKind = 24;

export async function plantLive(progress: Progress): Promise<Part> {
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  for (const through of ["engine", "middleware"] as const) {
    let [costly, right, alarms] = [0, 0, 0];
    for (const [place, kind] of livePlants.entries()) {
      let [rightOfKind, costlyOfKind] = [0, 0];
      for (let index = 0; index < sessionsPerKind; index += 1) {
        const random = createRandom((place * sessionsPerKind + index + 1) * seedStep);
        const talk = randomLiveTalk(random, kind);
        const broken = plantBreak(kind, talk, random);
        const play = players[through];
        const found = judgeLive(broken, await play(talk, broken), await play(talk, null));
        alarms += found.alarms + (found.isCostly || found.isRight ? 0 : 1);
        costlyOfKind += found.isCostly ? 1 : 0;
        rightOfKind += found.isCostly && found.isRight ? 1 : 0;
        if (!found.isRight) progress(`${through}, ${kind}, ${talk.policy}: ${found.said}`);
      }
      figures[`${through}: ${kind}, named right`] = `${rightOfKind} of ${costlyOfKind}`;
      costly += costlyOfKind;
      right += rightOfKind;
    }
    checks.push(
      atLeast(
        `planted breaks named right, through the ${through}`,
        costly === 0 ? null : right / costly,
        0.99,
      ),
      exactly(`alarms on calls without a costly break, through the ${through}`, alarms, 0),
    );
  }
  return { figures, checks };
}

const seedStep = 7919;

/** Sessions under each policy. */
const cleanSessions = 5;

export async function playClean(progress: Progress): Promise<Part> {
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  for (const through of ["engine", "middleware"] as const) {
    const count = await cleanThrough(through, progress);
    figures[`${through}: calls of clean sessions`] = count.calls;
    figures[`${through}: breaks by a policy's own layout, named`] = count.ownDoing;
    const name = `alarms in clean sessions under all ${policyNames.length} policies`;
    checks.push(exactly(`${name}, through the ${through}`, count.alarms, 0));
  }
  return { figures, checks };
}

async function cleanThrough(through: Through, progress: Progress) {
  const count = { calls: 0, alarms: 0, ownDoing: 0 };
  for (const policy of policyNames) {
    for (let index = 0; index < cleanSessions; index += 1) {
      const talk = randomLiveTalk(createRandom((index + 1) * seedStep + 1), null, policy);
      const { calls } = await players[through](talk, null);
      count.calls += calls.length;
      for (const { miss } of calls) {
        if (miss === null) continue;
        if (isOwnDoing(policy, miss)) count.ownDoing += 1;
        else {
          count.alarms += 1;
          progress(`${through}, ${policy}, ${talk.api}, clean: ${JSON.stringify(miss)}`);
        }
      }
    }
  }
  return count;
}
