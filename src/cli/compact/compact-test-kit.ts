// For tests: sessions in a ledger file, made through the engine on a simulator that listens on loopback.
import { findPolicy } from "../../core/cache/policies.ts";
import type { PolicyName } from "../../core/cache/policy.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { createProvider } from "../../edge/providers/provider.ts";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { runTurn } from "../../engine.ts";
import { openSession } from "../../engine/session/open-session.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import * as simulated from "../../simulator/index.ts";
import { toEndpoint } from "../../core/wire/access.ts";
import { findVendor, usualProtocol } from "../../core/wire/protocols.ts";

export interface SimulatedProvider {
  readonly simulator: simulated.Simulator;
  /** What the model that writes summaries was sent. */
  readonly asked: readonly string[];
  /** Test keys and the simulator's address. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** A model that gives these answers when asked for a summary (by default one), and short replies otherwise. */
export async function openSimulated(summary?: string): Promise<SimulatedProvider> {
  const asked: string[] = [];
  const summarise = simulated.createSummariser();
  const steps: readonly simulated.ScriptStep[] = [
    {
      when: ({ turns }) => /\bsummary\b/i.test(turns.at(-1)?.text ?? ""),
      times: "always",
      reply: (prompt) => {
        asked.push(prompt.turns.at(-1)?.text ?? "");
        if (summary === undefined) return summarise(prompt);
        return { parts: [{ kind: "text", text: summary }], stop: "end" };
      },
    },
    { when: () => true, times: "always", text: "Read; nothing depends on it." },
  ];
  const simulator = simulated.createSimulator({ seed: 1, model: simulated.createScripted(steps) });
  const server = await simulator.listen({ port: 0 });
  const env = {
    ANTHROPIC_API_KEY: process.env["PLANTED_KEY"] ?? "",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: process.env["PLANTED_OPENAI_KEY"] ?? "",
    OPENAI_BASE_URL: `${server.url}/v1`,
  };
  return { simulator, asked, env, close: () => server.close() };
}

export interface SessionToMake {
  readonly id: string;
  readonly model: string;
  readonly protocol?: Protocol;
  /** tail-5m by default. */
  readonly policy?: PolicyName;
  readonly turns: number;
}

/** Each turn is about another module and takes about 5,000 tokens. */
export async function makeSession(
  where: string,
  { env }: SimulatedProvider,
  { id, model: name, protocol: asked, policy = "tail-5m", turns }: SessionToMake,
): Promise<void> {
  const ledger = await openLedger(where);
  const model = resolveModel(name).facts;
  const protocol = asked ?? usualProtocol(model.provider);
  const vendor = findVendor(model.provider);
  const access = {
    apiKey: env[vendor?.keyVariable ?? ""] ?? "",
    baseUrl: env[vendor?.urlVariable ?? ""] ?? "",
  };
  const provider = createProvider({ protocol, ...toEndpoint(protocol.access, access) });
  let session = openSession({
    id,
    model,
    protocol,
    policy: findPolicy(policy),
    context: { role: "unified", workspaceRules: "Answer briefly. ".repeat(400) },
    counter: cheapCounter,
    options: { outputTokensMax: 1000, stream: true },
  });
  try {
    for (let number = 1; number <= turns; number += 1) {
      const event = { content: questionAbout(number), source: "human" } as const;
      const turn = { id: `${id}-${number}`, event };
      const deps = { provider, ledger, now: Date.now, runTools: () => Promise.resolve([]) };
      const done = await runTurn(session, turn, deps);
      if (done.end !== "done") throw new Error(`turn ${number} ended ${done.end}`);
      session = done.session;
    }
  } finally {
    await provider.close();
    await ledger.close();
  }
}

function questionAbout(number: number): string {
  const lines = Array.from(
    { length: 250 },
    (_, line) => `src/module-${number}/part-${line}.ts calls readPart${line}(${number}) again`,
  );
  return `What depends on module ${number}?\n${lines.join("\n")}`;
}
