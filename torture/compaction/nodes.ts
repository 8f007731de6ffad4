// Nodes as processes.
import { startToldProcess, type ToldProcess } from "../../harness/told-process.ts";
import type { NodeTask } from "./node.ts";
import type { Told } from "./told.ts";

export interface NodeProcess extends ToldProcess<Told> {
  readonly name: string;
}

export function startNode(
  name: string,
  task: NodeTask,
  onTold: (node: string, told: Told) => void,
): NodeProcess {
  const program = new URL("node.ts", import.meta.url);
  const tell = (told: Told): void => onTold(name, told);
  return { name, ...startToldProcess<Told>({ program, name, task, onTold: tell }) };
}
