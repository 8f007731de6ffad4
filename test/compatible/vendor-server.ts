// For these tests: the simulator as one vendor, and what it was sent.
import { createScripted, vendorPath, type Call, type Model } from "../../src/simulator/index.ts";
import type { Simulator, SimulatorOptions } from "../../src/simulator/index.ts";
import { serve } from "../engine/test-kit.ts";

export type Body = Readonly<Record<string, unknown>>;

export interface VendorServer {
  readonly simulator: Simulator;
  /** Where the vendor speaks Chat Completions. */
  readonly url: string;
  readonly bodies: readonly Body[];
  /** The header with the key of each request; null for none. */
  readonly keys: readonly (string | null)[];
  /** The words of every refusal. */
  refusals(): readonly string[];
}

/** The paths of Chat Completions, as the vendors have them. */
export const chatPaths = {
  deepseek: "/v1",
  moonshot: "/v1",
  mistral: "/v1",
  xai: "/v1",
  qwen: "/compatible-mode/v1",
  zai: "/api/paas/v4",
  groq: "/openai/v1",
  minimax: "/v1",
  gemini: "/v1beta/openai",
  "lm-studio": "/v1",
  vllm: "/v1",
  "llama.cpp": "/v1",
  ollama: "/v1",
  openrouter: "/api/v1",
} as const;

export type VendorName = keyof typeof chatPaths;

/** Answers the first call of a turn with a tool call, and the results with text. */
export const readsNotes: () => Model = () =>
  createScripted([
    {
      times: "always",
      reply: ({ thinks, turns }) => {
        const thought = thinks ? [{ kind: "thinking", text: "I need the file." } as const] : [];
        const hasResults = (turns.at(-1)?.toolResults.length ?? 0) > 0;
        if (hasResults) {
          return { parts: [...thought, { kind: "text", text: "It says hello." }], stop: "end" };
        }
        const call = { name: "read_file", inputJson: '{"path":"notes.md"}' };
        return { parts: [...thought, { kind: "tool use", ...call }], stop: "tool use" };
      },
    },
  ]);

/** Its hosts stay, unless a test says otherwise. */
export async function serveVendor(
  name: VendorName,
  options: SimulatorOptions = {},
): Promise<VendorServer> {
  const bodies: Body[] = [];
  const keys: (string | null)[] = [];
  const steady = { leavesSticky: 0, passesOver: 0 };
  const { simulator, url } = await serve(
    { model: readsNotes(), ...options, openrouter: { ...steady, ...options.openrouter } },
    (headers, body) => {
      bodies.push(JSON.parse(body) as Body);
      keys.push(headers.get("authorization"));
    },
  );
  return {
    simulator,
    url: `${url}${vendorPath(name)}${chatPaths[name]}`,
    bodies,
    keys,
    refusals: () => simulator.calls().flatMap(({ refusal }) => refusal ?? []),
  };
}

/** The bills of the calls that were answered. */
export function billedBy(simulator: Simulator): readonly NonNullable<Call["billed"]>[] {
  return simulator.calls().flatMap(({ billed }) => billed ?? []);
}
