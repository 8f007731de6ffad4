// The built-in simulator as a provider: one server on this machine for everything a process asks of it.
import type { Protocol } from "../../core/wire/protocol.ts";
import {
  createAgent,
  createSimulator,
  type OpenServer,
  type SimulatorOptions,
} from "../../simulator/index.ts";
import { anthropicEndpoint, openaiEndpoint } from "./endpoints.ts";
import { createProvider, type Provider, type ProviderOptions } from "./provider.ts";

export interface SimulatedProviders {
  /** For each protocol the same one, whoever asks. The first one starts the server. */
  open(protocol: Protocol): Promise<Provider>;
  close(): Promise<void>;
}

/** It plays an agent that looks around with the tools it is offered, and bills like the real one. */
export function createSimulatedProviders(
  options: SimulatorOptions = {},
  how: Pick<ProviderOptions, "timeouts" | "retries"> = {},
): SimulatedProviders {
  let listening: Promise<OpenServer> | null = null;
  const opened = new Map<Protocol["path"], Promise<Provider>>();
  const open = async (protocol: Protocol): Promise<Provider> => {
    listening ??= createSimulator({ model: createAgent(), ...options }).listen({ port: 0 });
    const { url } = await listening;
    const endpoint =
      protocol.name === "anthropic-messages"
        ? anthropicEndpoint({ apiKey: anyKey, baseUrl: url })
        : openaiEndpoint({ apiKey: anyKey, baseUrl: `${url}/v1` });
    return createProvider({ protocol, ...endpoint, ...how });
  };
  return {
    open: (protocol) => {
      const known = opened.get(protocol.path) ?? open(protocol);
      opened.set(protocol.path, known);
      return known;
    },
    close: async () => {
      const providers = await Promise.all(opened.values());
      await Promise.all(providers.map((provider) => provider.close()));
      await (await listening)?.close();
    },
  };
}

/** Each key is a workspace of its own; this one's are this process's alone. */
const anyKey = "simulated-key";
