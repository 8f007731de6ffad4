// A growing conversation: how fast the simulator answers, and what a longer history costs besides reading it.
import { createConversation } from "../harness/conversation.ts";
import { median } from "../harness/measure.ts";
import { atMost, type Experiment } from "../harness/report.ts";
import type { Message } from "../src/core/message/message.ts";
import { createAnthropicSurface } from "../src/simulator/anthropic/index.ts";
import { keyedPromptOf } from "../src/simulator/billing/growing-prompt.ts";
import { stingyBilling } from "../src/simulator/billing/options.ts";
import { createSimulatorOf } from "../src/simulator/simulator.ts";
import type { Route, Surface } from "../src/simulator/surface.ts";

const rounds = 7;
const callsPerRound = 20;
/** Initial messages. On average 41 and 411 messages are sent, about 10,000 and 100,000 tokens. */
const lengths = { short: 21, long: 391 } as const;
type Length = keyof typeof lengths;

/**
 * The phases of one call over loopback; client and server share a process. First the body is received, until the handler
 * starts. Then it is parsed, checked, spelled, hashed and counted, until the handler asks for the bill (without the
 * model's answer); parsing is measured separately with `JSON.parse`. Chaining the keys of all prefixes is hashing too and
 * is measured again on the same blocks. The check is about the rest: the model, looking up entries, billing, and writing
 * and delivering the reply.
 */
interface Timing {
  readonly tokens: number;
  readonly totalMs: number;
  readonly receivingMs: number;
  readonly parsingMs: number;
  readonly hashingMs: number;
  readonly restMs: number;
}

export const experiment: Experiment = {
  summary: "requests/s of the simulator, and what ten times the history costs",
  async run({ progress }) {
    const timings: Record<Length, Timing[]> = { short: [], long: [] };
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}`);
      for (const length of ["short", "long"] as const) {
        const timed = await timeCalls(growingBodies(lengths[length], round));
        // The first call of a conversation counts every message, later calls only new ones. The first round is warm-up.
        if (round > 0) timings[length].push(...timed.slice(1));
      }
    }
    const of = (length: Length, name: keyof Timing): number =>
      median(timings[length].map((timing) => timing[name]));
    const figures = (["short", "long"] as const).flatMap((length) => {
      const size = `${Math.round(of(length, "tokens") / 1000)}k tokens`;
      return [
        [`${size}: requests/s over loopback`, 1000 / of(length, "totalMs")],
        [`${size}: receiving the body ms`, of(length, "receivingMs")],
        [`${size}: parsing it ms`, of(length, "parsingMs")],
        [`${size}: hashing it, with checking, spelling and counting ms`, of(length, "hashingMs")],
        [`${size}: the rest ms`, of(length, "restMs")],
      ] as const;
    });
    return {
      figures: {
        ...Object.fromEntries(figures),
        "history ratio": of("long", "tokens") / of("short", "tokens"),
      },
      checks: [atMost("growth", of("long", "restMs") / of("short", "restMs"), 2)],
    };
  },
};

/** Bodies like an agent's, each two messages longer, with a marker on the last block. */
function growingBodies(length: number, seed: number): readonly string[] {
  const messages = createConversation(length + 2 * callsPerRound, seed + length).map(toWire);
  return Array.from({ length: callsPerRound }, (_, call) => {
    const sent = messages.slice(0, length + 2 * call);
    const last = sent.pop();
    const content = (last?.content ?? []).map((block, index, { length: count }) =>
      index === count - 1 ? { ...block, cache_control: { type: "ephemeral" } } : block,
    );
    return JSON.stringify({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      stream: true,
      messages: [...sent, { role: last?.role, content }],
    });
  });
}

function toWire({ role, content }: Message): { role: string; content: object[] } {
  return {
    role: role === "tool" ? "user" : role,
    content: content.map((block) => {
      if (block.type === "tool_use") {
        const { type, id, name, inputJson } = block;
        return { type, id, name, input: JSON.parse(inputJson) as unknown };
      }
      if (block.type !== "tool_result") return block;
      return { type: block.type, tool_use_id: block.toolUseId, content: block.content };
    }),
  };
}

async function timeCalls(bodies: readonly string[]): Promise<Timing[]> {
  const watch: Watch = {
    startedAt: 0,
    answerMs: 0,
    openedAt: 0,
    keysMs: 0,
    watchingMs: 0,
    tokens: 0,
  };
  const server = await createSimulatorOf([() => timedSurface(watch)], { seed: 1 }).listen();
  const timings: Timing[] = [];
  for (const body of bodies) {
    const sentAt = performance.now();
    await send(server.url, body);
    const endedAt = performance.now();
    const { startedAt, answerMs, openedAt, keysMs, watchingMs, tokens } = watch;
    const parsingMs = time(() => JSON.parse(body));
    timings.push({
      tokens,
      totalMs: endedAt - sentAt - watchingMs,
      receivingMs: startedAt - sentAt,
      parsingMs,
      hashingMs: openedAt - startedAt - answerMs - parsingMs + keysMs,
      restMs: endedAt - openedAt - watchingMs - keysMs + answerMs,
    });
  }
  await server.close();
  return timings;
}

/** Timings of the last call. */
interface Watch {
  startedAt: number;
  answerMs: number;
  openedAt: number;
  keysMs: number;
  /** Time spent on measuring. */
  watchingMs: number;
  tokens: number;
}

/** The surface with timers where it calls the simulator. */
function timedSurface(watch: Watch): Surface {
  const surface = createAnthropicSurface();
  const routes = surface.routes.map((route): Route => ({
    ...route,
    handle: (request, context) => {
      watch.startedAt = performance.now();
      return route.handle(request, {
        ...context,
        answer: (prompt) => {
          const askedAt = performance.now();
          const reply = context.answer(prompt);
          watch.answerMs = performance.now() - askedAt;
          return reply;
        },
        billing: {
          ...context.billing,
          open: (billable) => {
            watch.openedAt = performance.now();
            // Measured twice, because the first run is slower than the one inside the call.
            watch.watchingMs = time(() => keyedPromptOf(billable, stingyBilling));
            watch.keysMs = time(() => keyedPromptOf(billable, stingyBilling));
            watch.watchingMs += watch.keysMs;
            const open = context.billing.open(billable);
            watch.tokens = open.bill.totalTokens;
            return open;
          },
        },
      });
    },
  }));
  return { ...surface, routes };
}

async function send(url: string, body: string): Promise<void> {
  const headers = { "x-api-key": "bench", "anthropic-version": "2023-06-01" };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
}

function time(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
