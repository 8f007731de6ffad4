// The end of the longer example: a session outgrows its window and is compacted, then compacted content is recalled.
import { findPolicy } from "../../src/core/cache/policies.ts";
import type { Ledger } from "../../src/core/ledger/ledger.ts";
import type { Message } from "../../src/core/message/message.ts";
import { formatUsdRounded } from "../../src/core/models/pico-usd.ts";
import { resolveModel } from "../../src/core/models/resolve-model.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../src/core/wire/anthropic-messages/index.ts";
import { anthropicEndpoint } from "../../src/core/wire/anthropic-messages/access.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { runTurn, type Deps } from "../../src/engine.ts";
import { openSession } from "../../src/engine/session/open-session.ts";
import type { Session } from "../../src/core/session/session.ts";
import { createAgent, createSimulator } from "../../src/simulator/index.ts";

/** Small enough for a few turns to fill. */
const windowTokens = 24_000;
const turns = 12;

export async function printCompaction(ledger: Ledger): Promise<void> {
  const simulator = createSimulator({ seed: 1, clock: "virtual", model: createAgent() });
  const server = await simulator.listen({ port: 0 });
  const endpoint = anthropicEndpoint({ apiKey: "none needed", baseUrl: server.url });
  const provider = createProvider({ protocol: anthropicMessages, ...endpoint });
  const deps = { provider, ledger, runTools, now: () => simulator.clock.now() };
  try {
    let session = openLong();
    const reads: string[] = [];
    for (let number = 1; number <= turns; number += 1) {
      const messagesBefore = session.thread.messages.length;
      const run = await runTurn(
        session,
        { event: { content: ask(number), source: "human" } },
        deps,
      );
      ({ session } = run);
      const [call] = run.calls;
      if (run.end !== "done" || call === undefined) throw new Error(`turn ${number}: ${run.end}`);
      if (session.thread.messages.length < messagesBefore) {
        reads.push(
          `turn ${number} was sent ${session.thread.messages.length - 1} messages instead of ${messagesBefore + 1}`,
        );
      }
      await simulator.clock.advance(20_000);
    }
    await printRecord(ledger, session, reads);
  } finally {
    await provider.close();
    await server.close();
  }
}

const runTools: Deps["runTools"] = () => Promise.resolve<readonly Message[]>([]);

function openLong(): Session {
  const { facts } = resolveModel("claude-sonnet-4-6");
  return openSession({
    id: "long",
    agent: "example",
    model: { ...facts, windowTokens, inputTokensMax: windowTokens },
    protocol: anthropicMessages,
    policy: findPolicy("adaptive"),
    context: {
      role: "unified",
      workspaceRules: "Keep the list of services up to date. ".repeat(120),
    },
    counter: cheapCounter,
    options: { outputTokensMax: 1_000, stream: true },
  });
}

function ask(number: number): string {
  const service = `services/part-${number}/main.ts`;
  const log = `${service} answered on port ${4000 + number} after a while. `.repeat(45);
  return `Note that ${service} listens on port ${4000 + number}; ticket OPS-${700 + number}. Its log: ${log}`;
}

async function printRecord(
  ledger: Ledger,
  session: Session,
  compacted: readonly string[],
): Promise<void> {
  const [compaction] = await ledger.readCompactions(session.id);
  if (compaction === undefined) throw new Error("nothing was compacted");
  console.log(`\nA session that outgrows a window of ${windowTokens} tokens:`);
  console.log(
    `  ${compaction.turnsSummarized} turns were compacted, ${compaction.tokensBefore} → ${compaction.tokensAfter} tokens, for ${formatUsdRounded(compaction.costPicoUsd)}; ${compacted.join(", ")}.`,
  );
  const { hits } = await ledger.searchHistory({ sessionId: session.id, text: "OPS-702", limit: 1 });
  const [hit] = hits;
  console.log(
    `  history_search "OPS-702" finds it in turn ${hit?.turn ?? "?"}: ${hit?.excerpt.slice(0, 60) ?? ""}…`,
  );
}
