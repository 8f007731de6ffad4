// The parts of a turn. Every reader gets all of them from the beginning.

export interface PartQueue<Part> {
  push(part: Part): void;
  end(): void;
  /** Reads all parts, past and future. */
  read(): AsyncIterator<Part>;
}

export function createPartQueue<Part>(): PartQueue<Part> {
  const parts: Part[] = [];
  let isEnded = false;
  let more = Promise.withResolvers<void>();
  const ring = (): void => {
    more.resolve();
    more = Promise.withResolvers();
  };
  async function* readAll(): AsyncGenerator<Part> {
    for (let at = 0; ;) {
      const part = parts[at];
      if (part !== undefined) {
        at += 1;
        yield part;
      } else if (isEnded) return;
      else await more.promise;
    }
  }
  return {
    push: (part) => {
      parts.push(part);
      ring();
    },
    end: () => {
      isEnded = true;
      ring();
    },
    read: () => readAll(),
  };
}
