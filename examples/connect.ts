// For the examples: the real provider where there is a key, else the simulator in its place.
import { createScripted, createSimulator } from "../src/simulator/index.ts";

export interface Connected {
  readonly key: string;
  readonly fetch: typeof globalThis.fetch;
}

export function connect(keyName: string): Connected {
  const key = process.env[keyName];
  if (key !== undefined) return { key, fetch: globalThis.fetch };
  console.log(`(no ${keyName}: this runs on the simulator)`);
  const simulator = createSimulator({
    model: createScripted([
      { toolCalls: [{ name: "get_weather", input: { city: "Paris" } }] },
      { expect: { toolResult: "sunny" }, text: "It is sunny in Paris." },
    ]),
  });
  // It answers to local names only.
  const fetch: Connected["fetch"] = (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    return simulator.fetch(`http://localhost${pathname}`, init);
  };
  return { key: "none-needed", fetch };
}

export function weatherIn(inputJson: string): string {
  const input: unknown = JSON.parse(inputJson);
  const city = typeof input === "object" && input !== null && "city" in input ? input.city : null;
  return typeof city === "string" ? `sunny in ${city}` : "name a city";
}
