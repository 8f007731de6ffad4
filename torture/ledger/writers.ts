// Writers as processes, with the commits they acknowledged.
import { startToldProcess, type ToldProcess } from "../../harness/told-process.ts";
import type { Told } from "./facts.ts";
import type { WriterTask } from "./writer.ts";

export interface Writer extends ToldProcess<Told> {
  readonly name: string;
  /** Commits it acknowledged so far. */
  acknowledged(): number;
}

export function startWriter(
  name: string,
  task: WriterTask,
  onTold: (writer: string, told: Told) => void,
): Writer {
  let acknowledged = 0;
  const started = startToldProcess<Told>({
    program: new URL("writer.ts", import.meta.url),
    name,
    task,
    onTold: (told) => {
      if (told.at === "done") acknowledged += 1;
      onTold(name, told);
    },
  });
  return { name, ...started, acknowledged: () => acknowledged };
}
