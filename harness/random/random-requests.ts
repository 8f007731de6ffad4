// Random streams of requests for billing: conversations grow, fork and change, and time jumps to startTimesMs where
// something expires.
import type { RequestChange } from "../../src/core/models/invalidation.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import type {
  BillableBlock,
  BillableMarker,
  BillableRequest,
  Keeping,
} from "../../src/simulator/billing/billable-request.ts";
import type { StorageAct } from "../naive/naive-storage.ts";
import type { Random } from "../random-message.ts";
import { canStore, maybeNaming, openStorage, randomAct, type Storage } from "./random-storage.ts";

/** The input of a simulator, in order. Plain data, so that shrinking can remove events. */
export type BillingEvent =
  | { readonly kind: "open"; readonly id: string; readonly request: BillableRequest }
  | { readonly kind: "begin"; readonly id: string }
  | { readonly kind: "end"; readonly id: string; readonly atMs: number }
  | { readonly kind: "abandon"; readonly id: string }
  | { readonly kind: "storage"; readonly id: string; readonly act: StorageAct };

type StreamModel = BillableRequest["model"] & {
  readonly keeping?: Keeping;
  /** Who may answer, where a router has several hosts. */
  readonly hosts?: readonly string[];
};

/** Every way to cache: by markers (with runs as one position or not), by boundaries, by steps, at unpublished places (with minimum and without), not at all. */
const listedModels: readonly StreamModel[] = [
  "claude-sonnet-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-4-5",
  "anthropic.claude-opus-4-7-v1:0",
  "us.anthropic.claude-opus-5-5",
  "publishers/anthropic/models/claude-opus-5",
  "gpt-6.1-sol",
  "gpt-6.1-sol",
  "gpt-5.5",
  "gpt-4o",
  "claude-3-sonnet",
  "deepseek-v4-pro",
  "gemini-3.8-flash",
  "gemini-2.5-pro",
  "gemini-4-argon",
].map(modelOf);

const kept = { stepTokens: 1, minimumTokens: 1, keptSeconds: 300, slots: 1 } as const;

/** Vendors that keep prefixes without being asked, a router with hosts, servers of one's own. */
const keepingModels: readonly StreamModel[] = [
  {
    ...modelOf("deepseek-flash"),
    keeping: { ...kept, boundary: "prefix units", keptSeconds: 3600 },
  },
  { ...modelOf("grok-4.7"), keeping: { ...kept, boundary: "ends of messages", stepTokens: 128 } },
  {
    ...modelOf("mistral-large-4"),
    keeping: { ...kept, boundary: "every step", stepTokens: 64, minimumTokens: 64 },
  },
  {
    ...modelOf("qwen3.7-max"),
    keeping: { ...kept, boundary: "ends of messages", minimumTokens: 1024 },
  },
  { ...modelOf("openrouter/claude-sonnet-4-6"), hosts: ["Anthropic", "Amazon Bedrock"] },
  {
    ...modelOf("openrouter/deepseek-flash"),
    keeping: { ...kept, boundary: "ends of messages" },
    hosts: ["DeepSeek", "Novita", "Together"],
  },
  {
    ...modelOf("vllm/llama"),
    keeping: { ...kept, boundary: "every step", stepTokens: 16, keptSeconds: null },
  },
  { ...modelOf("llama.cpp/gemma"), keeping: { ...kept, boundary: "slots", keptSeconds: null } },
  {
    ...modelOf("llama.cpp/qwen"),
    keeping: { ...kept, boundary: "slots", keptSeconds: null, slots: 3 },
  },
];

function modelOf(id: string): StreamModel {
  const { facts } = resolveModel(id);
  return { id: facts.id, route: facts.route, cache: facts.cache };
}

interface Conversation {
  blocks: BillableBlock[];
  settings: Partial<Record<RequestChange, string>>;
  /** Earlier marker positions, which are good places for new ones. */
  marked: number[];
  model: StreamModel;
  workspace: string;
}

interface World {
  readonly random: Random;
  readonly models: readonly StreamModel[];
  readonly unitTokens: number;
  readonly graceMs: number;
  readonly conversations: Conversation[];
  /** Times that lifetimes count from. */
  readonly startTimesMs: number[];
  readonly storage: Storage;
  nowMs: number;
  made: number;
}

interface StreamShape {
  readonly requests: number;
  /** The billing option of this name: expiry is later by this much. */
  readonly graceMs: number;
  /** Use only this model. */
  readonly only?: string;
  /** Use models that are kept without markers, or have several hosts. */
  readonly keeps?: boolean;
}

/** The same random numbers give the same stream. */
export function randomStream(
  random: Random,
  { requests, graceMs, only, keeps = false }: StreamShape,
): BillingEvent[] {
  const streamModels = keeps ? keepingModels : listedModels;
  const choice = streamModels.filter(({ id }) => only === undefined || id === only);
  const models = many(pick(random, [1, 1, 2, 3]), () => pick(random, choice));
  const minimumTokens = models[0]?.cache.minimumTokens ?? 1024;
  const world: World = {
    random,
    models,
    unitTokens: Math.ceil(minimumTokens / pick(random, [1, 4, 8, 16, 40])),
    graceMs,
    conversations: [],
    startTimesMs: [],
    storage: openStorage(),
    nowMs: 1_000_000,
    made: 0,
  };
  const events: BillingEvent[] = [];
  let waiting: string[] = [];
  let begun: string[] = [];
  for (let index = 0; index < requests; index += 1) {
    if (random() < 0.75) advance(world);
    const id = `request-${index}`;
    const { request, act } = withStorage(world, randomRequest(world, id));
    events.push({ kind: "open", id, request });
    if (act !== null) events.push({ kind: "storage", id: `act-${index}`, act });
    waiting.push(id);
    world.startTimesMs.push(world.nowMs);
    // Usually an answer comes before the next request; sometimes several wait, and a later one is answered first.
    const patience = pick(random, [0, 0, 0.5, 1]);
    if (random() < 0.5) waiting.reverse();
    waiting = waiting.filter((each) => {
      if (random() < patience) return true;
      const isAnswered = random() < 0.9;
      events.push({ kind: isAnswered ? "begin" : "abandon", id: each });
      if (isAnswered) begun.push(each);
      return false;
    });
    begun = begun.filter((each) => {
      if (random() < 0.4) return true;
      if (random() < 0.3) advance(world);
      events.push({ kind: "end", id: each, atMs: world.nowMs });
      world.startTimesMs.push(world.nowMs);
      return false;
    });
  }
  return events;
}

/** Only for models whose prefixes can be stored: the others draw the same numbers as before. */
function withStorage(
  { random, storage }: World,
  request: BillableRequest,
): { readonly request: BillableRequest; readonly act: StorageAct | null } {
  if (!canStore(request)) return { request, act: null };
  return {
    request: maybeNaming(random, storage, request),
    act: randomAct(random, storage, request),
  };
}

/** Advances by up to two hours, often to the exact millisecond at which something expires. */
function advance(world: World): void {
  const { random, startTimesMs, nowMs, graceMs, storage } = world;
  const lifetimesMs = [300, 1800, 3600, 43_200].map((seconds) => seconds * 1000 + graceMs);
  const deps = startTimesMs
    .slice(-8)
    .flatMap((moment) => lifetimesMs.slice(0, random() < 0.1 ? 4 : 3).map((each) => moment + each))
    .concat(storage.expiries.slice(-2))
    .flatMap((edge) => [edge - 1, edge, edge + 1])
    .filter((edge) => edge >= nowMs);
  if (random() < 0.4 && deps.length > 0) {
    world.nowMs = pick(random, deps);
  } else {
    const steps = [0, 1, 1000, 9000, 30_000, 60_000, 200_000, 280_000, 1_200_000, 7_200_000];
    const step = random() < 0.7 ? pick(random, steps.slice(0, 7)) : pick(random, steps);
    world.nowMs += Math.floor(step * random() * 2);
  }
}

function randomRequest(world: World, id: string): BillableRequest {
  const { random } = world;
  const conversation = nextConversation(world);
  const { blocks, settings, model, workspace } = conversation;
  const markers =
    random() < 0.25 ? probingMarkers(world, conversation) : randomMarkers(random, conversation);
  conversation.marked = [
    ...new Set([...conversation.marked, ...markers.map(({ block }) => block)]),
  ].slice(-12);
  const lifetimes = model.cache.lifetimes.map(({ lifetime }) => lifetime);
  return {
    id,
    workspace,
    ...(model.hosts === undefined ? {} : { host: pick(random, model.hosts) }),
    ...(model.keeping === undefined ? {} : { keeping: model.keeping }),
    model,
    blocks: [...blocks],
    markers,
    mode: random() < 0.7 ? "implicit" : "explicit",
    ...(random() < 0.3 && lifetimes.length > 0
      ? { implicitLifetime: pick(random, lifetimes) }
      : {}),
    settings: { ...settings },
    startMs: world.nowMs,
  };
}

/** The next conversation: new, continued, forked or changed. */
function nextConversation(world: World): Conversation {
  const { random, conversations } = world;
  const known = random() < 0.06 ? undefined : conversations.at(-1 - below(random, 3));
  if (known === undefined || known.blocks.length > 160) return newConversation(world);
  const chance = random();
  if (chance < 0.08) return fork(world, known);
  if (chance < 0.13) {
    const index = below(random, known.blocks.length);
    const old = known.blocks[index];
    if (old !== undefined) known.blocks[index] = { ...old, hash: newHash(world) };
  } else if (chance < 0.25) {
    flipSetting(random, known);
  } else if (chance < 0.3) {
    known.model = pick(random, world.models);
  } else if (chance < 0.35) {
    known.workspace = pick(random, workspaces);
  }
  if (random() < 0.7) grow(world, known);
  return known;
}

const workspaces = ["home", "home", "office"];

function newConversation(world: World): Conversation {
  const { random } = world;
  const conversation: Conversation = {
    blocks: [],
    settings: {},
    marked: [],
    model: pick(random, world.models),
    workspace: pick(random, workspaces),
  };
  add(world, conversation, { tier: "tools" }, pick(random, [0, 0, 1, 3, 19, 20, 21, 24]));
  const system = pick(random, [0, 1, 1, 2, 3]);
  if (system > 0) {
    add(world, conversation, { tier: "system" }, system - 1);
    add(world, conversation, { tier: "system", boundary: "initial group" }, 1);
  }
  grow(world, conversation);
  if (conversation.blocks.length === 0) add(world, conversation, {}, 1);
  world.conversations.push(conversation);
  return conversation;
}

/** The same beginning with a different end. */
function fork(world: World, from: Conversation): Conversation {
  const { random } = world;
  const length = 1 + below(random, from.blocks.length);
  const conversation: Conversation = {
    ...from,
    blocks: from.blocks.slice(0, length),
    settings: { ...from.settings },
    marked: from.marked.filter((block) => block < length),
  };
  if (random() < 0.7) grow(world, conversation);
  world.conversations.push(conversation);
  return conversation;
}

/** Adds a few messages: text, tool calls with results, or very many small blocks. */
function grow(world: World, conversation: Conversation): void {
  const { random } = world;
  const text: Partial<BillableBlock> = {};
  const user: Partial<BillableBlock> = { boundary: "eligible message" };
  for (let left = pick(random, [1, 1, 1, 2, 4]); left > 0; left -= 1) {
    const kind = pick(random, ["text", "tools", "tools", "many", "many messages"]);
    if (kind === "text") {
      add(world, conversation, user, 1);
      add(world, conversation, text, below(random, 3));
    } else if (kind === "tools") {
      const calls = pick(random, [1, 2, 3, 8, 25]);
      add(world, conversation, { run: "tool_use" }, calls);
      add(world, conversation, { run: "tool_result" }, calls - 1);
      add(world, conversation, { run: "tool_result", boundary: "eligible message" }, 1);
    } else if (random() < 0.4) {
      add(world, conversation, kind === "many" ? text : user, 17 + below(random, 7));
    }
  }
}

function add(
  world: World,
  { blocks }: Conversation,
  like: Partial<BillableBlock>,
  count: number,
): void {
  for (let left = count; left > 0; left -= 1) {
    const tokens = randomTokens(world, blocks);
    const hash = newHash(world);
    blocks.push({ tier: "messages", run: null, boundary: null, ...like, hash, tokens });
  }
}

/** Around the unit, or just enough to reach a round number, so that limits are tested from both sides. */
function randomTokens({ random, unitTokens }: World, blocks: readonly BillableBlock[]): number {
  if (random() < 0.02) return 0;
  if (random() < 0.7) return 1 + below(random, 2 * unitTokens);
  const sum = blocks.reduce((total, { tokens }) => total + tokens, 0);
  const goal = pick(random, [128, 512, 1024, 2048, 4096]) * (1 + below(random, 2));
  const missing = (goal - (sum % goal)) % goal;
  return missing > 4 * unitTokens ? 1 : Math.max(0, missing + below(random, 3) - 1);
}

function newHash(world: World): string {
  world.made += 1;
  return `block-${world.made}`;
}

function flipSetting(random: Random, conversation: Conversation): void {
  const change = pick(random, [
    "tool choice",
    "parallel tool use",
    "speed",
    "citations",
    "web search or fetch",
    "effort",
    "thinking",
    "verbosity",
    "cache key",
    "metadata",
    "context editing",
    "user turn after thinking",
    "images appear or vanish",
  ] as const);
  if (conversation.settings[change] === undefined) conversation.settings[change] = "other";
  else delete conversation.settings[change];
}

function randomMarkers(random: Random, conversation: Conversation): BillableMarker[] {
  const { model, blocks } = conversation;
  const rules = model.cache.markers;
  if (rules === null) return [];
  const isLimited = rules.excess === "rejected";
  const everywhere = !isLimited && random() < 0.08;
  const count = isLimited ? below(random, rules.markersMax + 1) : below(random, 8);
  const places = everywhere
    ? [...blocks.keys()].filter(() => random() < 0.9)
    : many(count, () => randomPlace(random, conversation));
  const lifetimes = model.cache.lifetimes.map(({ lifetime }) => lifetime);
  const sorted = [...new Set(places)].toSorted((left, right) => left - right);
  const longUntil = below(random, 3) === 0 ? below(random, sorted.length + 1) : 0;
  return sorted.map((block, index) => ({
    block,
    lifetime: isLimited
      ? pick(random, lifetimes.slice(index < longUntil ? -1 : 0).slice(0, 1))
      : pick(random, lifetimes),
    origin: isLimited && index === sorted.length - 1 && random() < 0.2 ? "automatic" : "explicit",
  }));
}

/** Grows the conversation until an earlier marker is just within or just out of reach of the new ones. */
function probingMarkers(world: World, conversation: Conversation): BillableMarker[] {
  const { random } = world;
  const { blocks, marked, model } = conversation;
  const rules = model.cache.markers;
  const lifetime = model.cache.lifetimes[below(random, model.cache.lifetimes.length)]?.lifetime;
  if (rules === null || lifetime === undefined) return [];
  const from = marked.length === 0 ? blocks.length - 1 : pick(random, marked);
  const reach = rules.lookback.kind === "positions" ? rules.lookback.positions : 50;
  const goal =
    from + reach - 2 + below(random, 4) + (random() < 0.5 ? runSurplus(blocks, from) : 0);
  add(world, conversation, {}, goal - (blocks.length - 1));
  const places =
    rules.lookback.kind === "positions"
      ? [goal]
      : [...blocks.keys()].slice(Math.max(0, from - below(random, 4)), goal + 1);
  return places.map((block) => ({ block, lifetime, origin: "explicit" }));
}

/** How many blocks after this one do not count as a position when runs are one position. */
function runSurplus(blocks: readonly BillableBlock[], from: number): number {
  return blocks.filter(
    ({ run }, index) => index > from && run !== null && run === blocks[index - 1]?.run,
  ).length;
}

/** The end of a tier, the last block, an earlier marker position, or any block. */
function randomPlace(random: Random, { blocks, marked }: Conversation): number {
  const last = blocks.length - 1;
  const tierEnd = blocks.findLastIndex(({ tier }) => tier === pick(random, ["tools", "system"]));
  const tools = blocks.filter(({ tier }) => tier === "tools").length;
  const before = marked.length === 0 ? last : pick(random, marked.slice(-4));
  const place = pick(random, [
    last,
    last,
    last,
    tierEnd,
    below(random, tools),
    before,
    before,
    last - below(random, 4),
    below(random, blocks.length),
  ]);
  return Math.min(last, Math.max(0, place));
}

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error("nothing to pick from");
  return item;
}

function many<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make);
}
