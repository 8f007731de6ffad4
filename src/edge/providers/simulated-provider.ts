// The built-in simulator as a provider: one local server per process.
import { toEndpoint } from "../../core/wire/access.ts";
import type { Protocol } from "../../core/wire/protocol.ts";
import {
  createAgent,
  createSimulator,
  type OpenServer,
  type SimulatorOptions,
} from "../../simulator/index.ts";
import { createProvider, type Provider, type ProviderOptions } from "./provider.ts";

export interface SimulatedProviders {
  /** One provider per protocol. The first call starts the server. */
  open(protocol: Protocol): Promise<Provider>;
  close(): Promise<void>;
}

/** It plays an agent that looks around with the tools it is offered, and bills like the real one. */
export function createSimulatedProviders(
  options: SimulatorOptions = {},
  how: Pick<ProviderOptions, "timeouts" | "retries"> = {},
): SimulatedProviders {
  let listening: Promise<OpenServer> | null = null;
  const opened = new Map<string, Promise<Provider>>();
  const open = async (protocol: Protocol): Promise<Provider> => {
    listening ??= createSimulator({ model: createAgent(), ...options }).listen({ port: 0 });
    const { url } = await listening;
    // The simulator uses the same paths as the vendors.
    const baseUrl = `${url}${new URL(protocol.access.baseUrl).pathname}`;
    const endpoint = toEndpoint(protocol.access, { apiKey: anyKey, baseUrl });
    return createProvider({ protocol, ...endpoint, ...how });
  };
  return {
    open: (protocol) => {
      const known = opened.get(protocol.name) ?? open(protocol);
      opened.set(protocol.name, known);
      return known;
    },
    close: async () => {
      const providers = await Promise.all(opened.values());
      await Promise.all(providers.map((provider) => provider.close()));
      await (await listening)?.close();
    },
  };
}

/** Each key is a separate workspace of the simulator; the server belongs to this process only. */
const anyKey = "simulated-key";
