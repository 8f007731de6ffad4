// Serializes changes of one file: the second edit sees what the first one wrote.

export interface FileQueue {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
}

export function createFileQueue(): FileQueue {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (name, work) => {
      const before = last.get(name);
      const current = (async () => {
        // The caller of the one before gets its error.
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
