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

export type PageReader = (access: Access, query: Asked["query"]) => Promise<EventPage>;

export function createPageReader({ ask }: Pick<ReaderThread, "ask">): PageReader {
  return async (access, query) => {
    const question: QuestionOf = {
      route: "event_list",
      asked: { path: {}, query: { limit: String(eventsPerPage), ...query }, access },
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
  };
}
