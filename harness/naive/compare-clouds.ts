// Compares what Bedrock and Vertex bill for random bodies with the naive billing of the conversations behind them.
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type { BillableRequest } from "../../src/simulator/billing/billable-request.ts";
import { stingyBilling } from "../../src/simulator/billing/options.ts";
import { createSimulator } from "../../src/simulator/index.ts";
import { createNaiveBilling } from "./naive-billing.ts";
import { plantedToken } from "../planted-key.ts";
import { createRandom, type Random } from "../random-message.ts";
import {
  grown,
  marked,
  below,
  placesOf,
  randomTalk,
  toBlocks,
  type Piece,
  type Talk,
} from "../random/random-talks.ts";
import { spellConverse, spellMessages } from "../random/spell-talk.ts";

interface Comparison {
  readonly steps: number;
  readonly hits: number;
  /** The first request that was billed differently, and both bills. */
  readonly difference: string | null;
}

interface Buckets {
  readonly read: number;
  readonly "5m": number;
  readonly "1h": number;
  readonly uncached: number;
}

/** One way to ask: where, with which body, and where the bill stands in the answer. */
interface Way {
  readonly path: string;
  readonly spell: (talk: Talk) => Readonly<Record<string, unknown>>;
  readonly bucketsOf: (answer: Answer) => Buckets;
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers are read field by field
type Answer = any;

const clouds = [
  { model: "us.anthropic.claude-haiku-4-5-20251001-v1:0", ways: bedrockWays },
  { model: "global.anthropic.claude-opus-5-5", ways: bedrockWays },
  {
    model: "projects/any/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-6",
    ways: vertexWays,
  },
] as const;

const startMs = Date.UTC(2026, 10, 15, 12);

/** Bodies of one cloud and model in turn: conversations grow, time passes, marks move. */
export async function compareClouds(work: {
  readonly seed: number;
  readonly requests: number;
  /** An intentional error, to prove that the comparison finds it. */
  readonly misread?: (request: BillableRequest) => BillableRequest;
}): Promise<Comparison> {
  let [steps, hits] = [0, 0];
  for (const [index, { model, ways }] of clouds.entries()) {
    const random = createRandom(work.seed + index * 7919);
    const { facts } = resolveModel(model);
    const simulator = createSimulator({ seed: 1, clock: { virtualStartMs: startMs } });
    const naive = createNaiveBilling(stingyBilling);
    const post = poster(simulator.fetch);
    const count = counter(post, ways(model)[0]);
    let made = 0;
    const name = (): string => `w${(made += 1)}`;
    const talks: Talk[] = [];
    for (let request = 0; request < work.requests; request += 1) {
      const talk = marked(random, nextTalk(random, talks, name));
      const way = ways(model)[below(random, ways(model).length)] ?? ways(model)[0];
      const { blocks, markers } = toBlocks(talk, await count(talk));
      const opening = {
        hash: "opening",
        tokens: openingTokens,
        tier: "messages",
        run: null,
        boundary: null,
      } as const;
      const read: BillableRequest = {
        id: String(request),
        workspace: "one",
        model: facts,
        blocks: [...blocks, opening],
        markers,
        mode: "explicit",
        settings: {},
        startMs: simulator.clock.now(),
      };
      const open = naive.open(work.misread?.(read) ?? read);
      const billed = way.bucketsOf(await post(way.path, way.spell(talk)));
      open.begin();
      open.end(simulator.clock.now());
      const { readTokens, writeTokens, uncachedTokens } = open.bill;
      const expected: Buckets = {
        read: readTokens,
        "5m": writeTokens["5m"] ?? 0,
        "1h": writeTokens["1h"] ?? 0,
        uncached: uncachedTokens,
      };
      steps += 1;
      hits += readTokens > 0 ? 1 : 0;
      if (JSON.stringify(billed) !== JSON.stringify(expected)) {
        const lines = [`request ${request} of ${model} by ${way.path}`, billed, expected, talk];
        return { steps, hits, difference: lines.map((line) => JSON.stringify(line)).join("\n") };
      }
      await simulator.clock.advance(pauseMs(random));
    }
  }
  return { steps, hits, difference: null };
}

/** The tokens that open a reply; no marker covers them. */
const openingTokens = 3;

function nextTalk(random: Random, talks: Talk[], name: () => string): Talk {
  const at = below(random, talks.length);
  const known = random() < 0.15 ? undefined : talks[at];
  if (known === undefined || known.turns.length > 12) {
    const talk = randomTalk(random, name);
    talks.unshift(talk);
    talks.length = Math.min(talks.length, 3);
    return talk;
  }
  const talk = random() < 0.75 ? grown(random, known, name) : known;
  talks[at] = talk;
  return talk;
}

/** Mostly short; sometimes to the millisecond around a lifetime. */
function pauseMs(random: Random): number {
  if (random() < 0.75) return below(random, 60_000);
  const lifetimeMs = random() < 0.8 ? 300_000 : 3_600_000;
  return lifetimeMs - 1 + below(random, 3);
}

/** The tokens of each place's beginning, by the cloud's own counting. */
function counter(
  post: Post,
  { count, spell }: CountingWay,
): (talk: Talk) => Promise<readonly number[]> {
  const ask = async (talk: Talk): Promise<number> =>
    count.tokensOf(await post(count.path, count.wrap(spell(talk))));
  const alone: Talk = { tools: [], system: [], turns: [[{ kind: "text", text: "x", mark: null }]] };
  return async (talk) => {
    const aloneTokens = await ask(alone);
    return Promise.all(
      placesOf(talk).map(async ({ talk: beginning, tier }) =>
        tier === "messages"
          ? (await ask(unmarked(beginning))) - openingTokens
          : (await ask(unmarked({ ...beginning, turns: alone.turns }))) - aloneTokens,
      ),
    );
  };
}

function unmarked({ tools, system, turns }: Talk): Talk {
  return {
    tools: tools.map(plain),
    system: system.map(plain),
    turns: turns.map((each) => each.map(plain)),
  };
}

function plain(piece: Piece): Piece {
  return { ...piece, mark: null };
}

type Post = (path: string, body: unknown) => Promise<Answer>;

function poster(fetch: ReturnType<typeof createSimulator>["fetch"]): Post {
  return async (path, body) => {
    const response = await fetch(`http://localhost${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${plantedToken}` },
      body: JSON.stringify(body),
    });
    const answer: Answer = await response.json();
    if (response.status !== 200) throw new Error(JSON.stringify(answer));
    return answer;
  };
}

interface CountingWay extends Way {
  readonly count: {
    readonly path: string;
    readonly wrap: (body: unknown) => unknown;
    readonly tokensOf: (answer: Answer) => number;
  };
}

function bedrockWays(model: string): readonly [CountingWay, Way] {
  const place = `/model/${encodeURIComponent(model)}`;
  return [
    {
      path: `${place}/converse`,
      spell: spellConverse,
      bucketsOf: ({ usage }) => ({
        read: usage.cacheReadInputTokens,
        "5m": detailOf(usage, "5m"),
        "1h": detailOf(usage, "1h"),
        uncached: usage.inputTokens,
      }),
      count: {
        path: `${place}/count-tokens`,
        wrap: (converse) => ({ input: { converse } }),
        tokensOf: ({ inputTokens }) => inputTokens,
      },
    },
    {
      path: `${place}/invoke`,
      spell: (talk) => ({
        anthropic_version: "bedrock-2023-05-31",
        max_tokens: 20,
        ...spellMessages(talk),
      }),
      bucketsOf: messagesBuckets,
    },
  ];
}

function detailOf({ cacheDetails }: Answer, lifetime: string): number {
  return cacheDetails.find(({ ttl }: Answer) => ttl === lifetime)?.inputTokens ?? 0;
}

function vertexWays(model: string): readonly [CountingWay] {
  const head = { anthropic_version: "vertex-2023-10-16", max_tokens: 20 };
  const publisher = model.slice(0, model.lastIndexOf("/"));
  const name = model.slice(publisher.length + 1);
  return [
    {
      path: `/v1/${model}:rawPredict`,
      spell: (talk) => ({ ...head, ...spellMessages(talk) }),
      bucketsOf: messagesBuckets,
      count: {
        path: `/v1/${publisher}/count-tokens:rawPredict`,
        wrap: (body) => {
          const { max_tokens: _, ...counted } = body as Record<string, unknown>;
          return { ...counted, model: name };
        },
        tokensOf: ({ input_tokens: tokens }) => tokens,
      },
    },
  ];
}

function messagesBuckets({ usage }: Answer): Buckets {
  return {
    read: usage.cache_read_input_tokens,
    "5m": usage.cache_creation.ephemeral_5m_input_tokens,
    "1h": usage.cache_creation.ephemeral_1h_input_tokens,
    uncached: usage.input_tokens,
  };
}
