// Changes of one file happen one after the other: the second edit sees what the first one wrote.

export interface FileQueue {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export function createFileQueue(): FileQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (name, work) => {
      const before = last.get(name);
      const current = (async () => {
        // How the one before ended is told to whoever asked for it.
        await before?.catch(() => {});
        return work();
      })();
      last.set(name, current);
      try {
        return await current;
      } finally {
        if (last.get(name) === current) last.delete(name);
      }
    },
  };
}
