// What waits to be handled beside other work: bounded, a little at a time, and what did not fit is counted.

export interface WorkQueue<Item> {
  add(item: Item): void;
  /** Handles everything that waits, at once. */
  drain(): void;
  /** Drains; what is added later is dropped. */
  close(): void;
  counts(): QueueCounts;
}

export interface QueueCounts {
  readonly waitingCount: number;
  /** Items that came while the queue was full. */
  readonly droppedCount: number;
}

export interface WorkQueueOptions<Item> {
  readonly itemsMax: number;
  /** Must not throw. */
  readonly handle: (item: Item) => void;
  /** Called when nothing waits any more. */
  readonly onEmpty: () => void;
}

/** Items of one moment are handled together, and none of them where it was added. */
const waitMs = 20;

/** So many at a time, then other work may run. */
const atATime = 256;

/** Its timer keeps no process alive. */
export function createWorkQueue<Item>(options: WorkQueueOptions<Item>): WorkQueue<Item> {
  const { itemsMax, handle, onEmpty } = options;
  let waiting: Item[] = [];
  let timer: NodeJS.Timeout | null = null;
  let droppedCount = 0;
  let isClosed = false;
  const handleSome = (most: number): void => {
    const some = waiting.slice(0, most);
    waiting = waiting.slice(most);
    for (const each of some) handle(each);
    if (waiting.length === 0) onEmpty();
  };
  const arm = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = null;
      handleSome(atATime);
      if (waiting.length > 0) arm(0);
    }, ms).unref();
  };
  const drain = (): void => handleSome(waiting.length);
  return {
    add: (item) => {
      if (isClosed || waiting.length >= itemsMax) {
        droppedCount += 1;
        return;
      }
      waiting.push(item);
      arm(waitMs);
    },
    drain,
    close: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      drain();
    },
    counts: () => ({ waitingCount: waiting.length, droppedCount }),
  };
}
