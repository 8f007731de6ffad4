// The simulator with every provider it can speak for.
import { providers } from "./provider-words.ts";
import { createSimulatorOf, type Simulator, type SimulatorOptions } from "./simulator.ts";

export function createSimulator(options: SimulatorOptions = {}): Simulator {
  return createSimulatorOf(providers, options);
}
