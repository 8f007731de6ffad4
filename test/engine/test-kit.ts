// What the tests here begin with: the places, simulators and engines of the torture runs, closed with the test.
import { onTestFinished } from "vitest";
import type { HostOptions } from "../../src/host/open-host.ts";
import type { SimulatorOptions } from "../../src/simulator/index.ts";
import {
  openPlace,
  serveSimulator,
  startEngine,
  type Place,
  type Served,
  type Started,
} from "../../torture/engine/place.ts";

export { plantedKey } from "../../harness/planted-key.ts";
export {
  eventsOf,
  readAll,
  type Place,
  type Served,
  type Started,
} from "../../torture/engine/place.ts";

/** A folder with a workspace in it, gone after the test. */
export function makePlace(): Place {
  const place = openPlace();
  onTestFinished(() => place.close());
  return place;
}

/** `onRequest` sees each request before it is answered. */
export async function serve(
  options: SimulatorOptions = {},
  onRequest: (headers: Headers, body: string) => void = () => {},
): Promise<Served> {
  const served = await serveSimulator(options, ({ headers, body }) => {
    onRequest(headers, body);
  });
  onTestFinished(() => served.close());
  return served;
}

export async function start(place: Place, more: Partial<HostOptions> = {}): Promise<Started> {
  const started = await startEngine(place, more);
  onTestFinished(() => started.close());
  return started;
}
