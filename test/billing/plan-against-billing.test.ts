// Goal: a plan says in advance what the provider will do. Method: plan random append-only sessions, bill the
// same blocks and markers on the simulator, and compare block of the hit, spans, refreshed entries and tokens.
import { expect, test } from "vitest";
import {
  createRandomSession,
  toBillableBlocks,
  toPromptBlocks,
  type LooseBlock,
  type RandomSession,
} from "../../harness/random/random-sessions.ts";
import { createRandom } from "../../harness/random-message.ts";
import { openCacheState } from "../../src/core/cache/cache-state.ts";
import { learnFromReply } from "../../src/core/cache/learn-from-reply.ts";
import { openPace, type PaceKind } from "../../src/core/cache/pace.ts";
import { planCache } from "../../src/core/cache/plan-cache.ts";
import { listPolicies } from "../../src/core/cache/policies.ts";
import { lifetimes } from "../../src/core/message/usage.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { createBilling, type Bill, type BillableMarker } from "../../src/simulator/index.ts";

const sessionCount = 10_000;
const models = [
  "claude-sonnet-4-6",
  "claude-haiku-4-5",
  "claude-opus-5-5",
  "bedrock/anthropic.claude-sonnet-4-6",
  "gpt-6.1-sol",
  "gpt-5.5",
].map((name) => resolveModel(name).facts);
const kinds: readonly PaceKind[] = ["human", "tool loop", "worker", "cron", "one-shot"];
const policies = listPolicies();

test("the plan's boundaries are the simulator's, on every call of 10,000 random sessions", () => {
  const random = createRandom(20_261_116);
  let calls = 0;
  let nearFloor = 0;
  let hits = 0;
  const differences: string[] = [];
  for (let number = 0; number < sessionCount; number += 1) {
    const drawn = createRandomSession(random, 9);
    const model = pick(models, random());
    // What is thought is taken out of later prompts there, which is not billing's matter.
    const session = model.capabilities.stripsPriorThinking ? withoutThinking(drawn) : drawn;
    // Half of the sessions on our own policy, the rest on any.
    const policy = random() < 0.5 ? policies[0] : pick(policies, random());
    if (policy === undefined) throw new Error("there are no policies");
    const pace = openPace(pick(kinds, random()));
    const billing = createBilling();
    let state = openCacheState();
    let now = 1_800_000_000_000;
    let replayed: readonly LooseBlock[] = session.foundation;
    for (const call of session.calls) {
      now += call.gapMs;
      replayed = [...replayed, ...call.added];
      const loose = [...replayed, ...call.volatile];
      const blocks = toPromptBlocks(loose);
      const hasImages = loose.some(({ kind }) => kind === "image");
      const plan = planCache({ blocks, rules: model, markers: policy.markers, state, pace, now });
      checkWellFormed(plan.markers, model.cache.markers?.lifetimeOrder ?? "any");
      const open = billing.open({
        id: `${calls}`,
        workspace: "w",
        model,
        blocks: toBillableBlocks(loose),
        markers: toBillableMarkers(plan, blocks),
        mode: plan.mode ?? "implicit",
        settings: hasImages ? { "images appear or vanish": "yes" } : {},
        startMs: now,
      });
      open.begin();
      calls += 1;
      const expected = plan.expected;
      const usage = toUsage(open.bill);
      const lesson = learnFromReply({
        state,
        plan,
        blocks,
        rules: model.cache,
        usage,
        reportsCache: true,
        startMs: now,
      });
      const minimum = model.cache.minimumTokens ?? 0;
      const isNearFloor = blocks.some(
        ({ endTokens }) => Math.abs(endTokens - minimum) <= minimum * 0.02,
      );
      if (isNearFloor) nearFloor += 1;
      else {
        const said = {
          hit: expected.hitBlock,
          read: expected.readTokens,
          written: expected.writeTokens,
          uncached: expected.uncachedTokens,
        };
        const did = {
          hit: open.bill.hitBlock,
          read: open.bill.readTokens,
          written: open.bill.writeTokens,
          uncached: open.bill.uncachedTokens,
        };
        // A first image hides what was written before it, and hidden entries are nothing to us.
        const isSameLife = hasImages || sameLife(lesson.state.entries, billing.entries(now), now);
        if (!same(said, did) || !isSameLife) {
          differences.push(
            `session ${number} ${model.id} ${policy.name}: ${JSON.stringify({ said, did })}`,
          );
        }
        if (expected.hitBlock !== null) hits += 1;
      }
      state = lesson.state;
    }
  }
  expect(differences.slice(0, 3)).toEqual([]);
  expect(calls).toBeGreaterThan(40_000);
  expect(hits / calls).toBeGreaterThan(0.3);
  expect(nearFloor / calls).toBeLessThan(0.2);
}, 300_000);

function withoutThinking(session: RandomSession): RandomSession {
  const calls = session.calls.map((call) => ({
    ...call,
    added: call.added.filter(({ kind }) => kind !== "thinking"),
  }));
  return { ...session, calls };
}

function pick<Item>(items: readonly Item[], draw: number): Item {
  const item = items[Math.floor(draw * items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function toBillableMarkers(
  { markers, requestMarker }: ReturnType<typeof planCache>,
  blocks: ReturnType<typeof toPromptBlocks>,
): BillableMarker[] {
  const explicit = markers.map(({ block, lifetime }): BillableMarker => ({
    block,
    lifetime,
    origin: "explicit",
  }));
  if (requestMarker === null) return explicit;
  const block = blocks.findLastIndex(({ mayCarryMarker }) => mayCarryMarker);
  return [...explicit, { block, lifetime: requestMarker, origin: "automatic" }];
}

function checkWellFormed(
  markers: ReturnType<typeof planCache>["markers"],
  order: "longest first" | "any",
): void {
  if (markers.length > 4) throw new Error("more than four markers");
  const lives = markers.map(({ lifetime }) => lifetimes.indexOf(lifetime));
  const rises = lives.some((life, index) => index > 0 && life > (lives[index - 1] ?? 0));
  if (order === "longest first" && rises) throw new Error("a longer lifetime after a shorter one");
}

function toUsage(bill: Bill): Parameters<typeof learnFromReply>[0]["usage"] {
  return {
    uncachedTokens: bill.uncachedTokens,
    cacheReadTokens: bill.readTokens,
    cacheWriteTokens: bill.writeTokens,
    outputTokens: 1,
    reasoningTokens: 0,
  };
}

/** A lifetime nothing was written for may be absent or zero. */
function same(left: EventBody, right: EventBody): boolean {
  return (
    left.hit === right.hit &&
    left.read === right.read &&
    left.uncached === right.uncached &&
    lifetimes.every((each) => (left.written[each] ?? 0) === (right.written[each] ?? 0))
  );
}

interface EventBody {
  readonly hit: number | null;
  readonly read: number;
  readonly uncached: number;
  readonly written: Bill["writeTokens"];
}

/** Live entries by the tokens they hold, and until when. Keys differ: each side hashes in its own way. */
function sameLife(
  ours: ReturnType<typeof openCacheState>["entries"],
  theirs: ReturnType<ReturnType<typeof createBilling>["entries"]>,
  now: number,
): boolean {
  const mine = ours
    .filter(({ touchedMs, keptMs }) => touchedMs + keptMs >= now)
    .map(({ touchedMs, keptMs, lifetime }) => `${lifetime} ${touchedMs + keptMs}`)
    .toSorted();
  const simulated = theirs
    .filter(({ state, lifetime }) => state === "live" && lifetime !== null)
    .map(({ lifetime, expiresMs }) => `${lifetime} ${expiresMs}`)
    .toSorted();
  if (theirs.some(({ lifetime }) => lifetime === null)) return true;
  return mine.length === simulated.length && mine.every((each, index) => each === simulated[index]);
}
