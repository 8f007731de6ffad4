// Modules that import each other, directly or through others.
import type { Source } from "./read-sources.ts";

/** One list per group of modules that all reach each other. Empty where imports have no cycle. */
export function findCycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const imports = new Map(sources.map(({ file, imports: targets }) => [file, targets]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  // Tarjan's strongly connected components.
  const visit = (file: string): void => {
    const number = order.size;
    order.set(file, number);
    lowest.set(file, number);
    open.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!imports.has(target)) continue;
      if (!order.has(target)) visit(target);
      else if (!open.includes(target)) continue;
      lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(file) !== number) return;
    const group = open.splice(open.indexOf(file));
    if (group.length > 1) cycles.push(group.toSorted());
  };
  for (const { file } of sources) if (!order.has(file)) visit(file);
  return cycles;
}
