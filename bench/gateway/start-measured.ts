// Starts a process of the bench and asks it what it used.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Asked } from "./measured-process.ts";

export interface Measured {
  readonly url: string;
  used(what: Asked): Promise<number>;
  stop(): Promise<void>;
}

export async function startMeasured(
  kind: "upstream" | "bare" | "forward" | "gateway" | "optimize",
  ...words: readonly string[]
): Promise<Measured> {
  const program = fileURLToPath(new URL("measured-process.ts", import.meta.url));
  const child = fork(program, [kind, ...words], { execArgv: ["--expose-gc"] });
  const ended = once(child, "exit").then(() => {
    throw new Error(`the process of ${kind} ended`);
  });
  const begun = once(child, "message") as Promise<[{ readonly port: number }]>;
  const [{ port }] = await Promise.race([begun, ended]);
  ended.catch(() => {});
  return {
    url: `http://127.0.0.1:${port}`,
    used: async (what) => {
      child.send(what);
      return ((await once(child, "message")) as [number])[0];
    },
    stop: async () => {
      const stopped = once(child, "exit");
      child.disconnect();
      await stopped;
    },
  };
}
