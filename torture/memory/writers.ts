// Writers as processes.
import { startToldProcess, type ToldProcess } from "../../harness/told-process.ts";
import type { Told, WriterTask } from "./told.ts";

export type Writer = ToldProcess<Told>;

export function startWriter(task: WriterTask, onTold: (pid: number, told: Told) => void): Writer {
  const writer: Writer = startToldProcess<Told>({
    program: new URL("writer.ts", import.meta.url),
    name: task.name,
    task,
    onTold: (told) => onTold(writer.pid, told),
  });
  return writer;
}
