// Pages of events for streams, read in the thread that answers questions.
import type { Access } from "../access/access.ts";
import type { QuestionOf } from "../reader/answer-question.ts";
import type { ReaderThread } from "../reader/reader-thread.ts";
import type { Asked } from "../routes/route.ts";
import type { LiveEvent } from "../shapes/event-shape.ts";

export interface EventPage {
  readonly data: readonly LiveEvent[];
  readonly next_after: number;
  readonly oldest_position: number | null;
  readonly newest_position: number;
}

export const eventsPerPage = 500;

/** Readers that ask for the same page share it if it is not being read yet: an older answer may not know what a reader knows. */
export type PageReader = (query: Asked["query"]) => Promise<EventPage>;

/** The thread has other questions to answer, too. Further pages wait: a thousand readers may come back at once. */
const atOnceMax = 4;

const everyone: Access = { kind: "owner" };

interface WaitingPage {
  readonly query: Asked["query"];
  readonly page: PromiseWithResolvers<EventPage>;
}

export function createPageReader({ ask }: Pick<ReaderThread, "ask">): PageReader {
  const waiting = new Map<string, WaitingPage>();
  let readingCount = 0;
  const readNext = (): void => {
    for (const [key, { query, page }] of waiting) {
      if (readingCount >= atOnceMax) return;
      waiting.delete(key);
      readingCount += 1;
      const read = readPage(ask, query).finally(() => {
        readingCount -= 1;
        readNext();
      });
      read.then(page.resolve, page.reject);
    }
  };
  return (query) => {
    const key = JSON.stringify(query);
    const known = waiting.get(key);
    if (known !== undefined) return known.page.promise;
    const page = Promise.withResolvers<EventPage>();
    waiting.set(key, { query, page });
    readNext();
    return page.promise;
  };
}

async function readPage(ask: ReaderThread["ask"], query: Asked["query"]): Promise<EventPage> {
  const question: QuestionOf = {
    route: "event_list",
    asked: { path: {}, query: { limit: String(eventsPerPage), ...query }, access: everyone },
    nowMs: Date.now(),
    takesGzip: false,
    knownTag: null,
  };
  const { status, body, fault } = await ask(question);
  const text = Buffer.from(body).toString("utf8");
  if (status !== 200) throw new Error(fault ?? text);
  // Our own thread wrote it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as EventPage;
}
