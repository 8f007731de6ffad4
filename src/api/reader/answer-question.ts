// What runs in a reader's thread: a question to the ledger → the bytes of the answer.
import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { withChanges } from "../../host/config/catalogue.ts";
import type { CatalogueChanges } from "../../core/models/catalogue.ts";
import { assert } from "../../core/assert.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { createEventFeed, type EventFeed } from "../../edge/stores/ledger/event-feed.ts";
import { openStore, type OpenStore } from "../../edge/stores/open-store.ts";
import { apiErrors, refuseWith, toRefusal } from "../answer/api-error.ts";
import type { Asked, Read } from "../routes/route.ts";
import { routeNamed } from "../routes/routes.ts";

export interface ReaderOptions {
  /** A path or a connection string. */
  readonly store: string;
  /** Models and prices that are configured besides the built-in ones. */
  readonly models: CatalogueChanges | null;
  /** Stores sums of hours that are over, where no gateway beside it does. */
  readonly keepsUp?: boolean;
}

export interface QuestionOf {
  readonly route: string;
  readonly asked: Asked;
  readonly nowMs: number;
  /** The answer may be compressed. */
  readonly takesGzip: boolean;
  /** What the client says in `if-none-match`: tags of answers that it has. */
  readonly knownTag: string | null;
}

export interface AnswerBytes {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** What went wrong, for the operator and not for the client; null if nothing did. */
  readonly fault: string | null;
}

export interface QuestionReader {
  answer(question: QuestionOf): Promise<AnswerBytes>;
  /** One batch of sums. Whether more are left to do. Rejects if the ledger cannot be written. */
  catchUp(): Promise<boolean>;
  close(): Promise<void>;
}

export function createQuestionReader({ store, models }: ReaderOptions): QuestionReader {
  const catalogue = withChanges(models);
  let opened: Opened | null = null;
  const onLedger = async <T>(work: (ledger: Opened) => Promise<T>): Promise<T> => {
    try {
      opened ??= await openExisting(store);
      return await work(opened);
    } catch (error) {
      if (isOfStore(error)) {
        // The file may have been replaced, or the server away: it is opened anew.
        await opened?.ledger.close().catch(() => {});
        opened = null;
      }
      throw error;
    }
  };
  return {
    close: async () => {
      await opened?.ledger.close();
      opened = null;
    },
    catchUp: () =>
      onLedger(async ({ ledger }) => {
        const done = await ledger.catchUp(catchUpAtOnce);
        return !done.isComplete && !done.isBusy;
      }),
    answer: async (question) => {
      const { route, asked, nowMs } = question;
      try {
        const { body, isClosed } = await onLedger(({ database, feed }) =>
          readerOf(route)(asked, { database, feed, catalogue, nowMs }),
        );
        return toBytes(body, isClosed, question);
      } catch (error) {
        return toErrorBytes(error);
      }
    },
  };
}

/** Questions wait for it: about a fifth of a second. */
const catchUpAtOnce = { budgetMs: 1, callsPerBatch: 5000 } as const;

interface Opened extends OpenStore {
  readonly feed: EventFeed;
}

async function openExisting(store: string): Promise<Opened> {
  const found = await openStore(store);
  if (found !== null) return { ...found, feed: createEventFeed(found.database) };
  throw refuseWith(
    "store_unavailable",
    "there is no ledger yet",
    "it is made when the first call is recorded; ask again then",
  );
}

function readerOf(name: string): Read {
  const read = routeNamed(name)?.read;
  assert(read !== undefined, `the route ${name} reads the ledger`);
  return read;
}

function isOfStore(error: unknown): boolean {
  return error instanceof StrataError && error.code === "store-unavailable";
}

/** Shorter answers are sent as they are: the packet is the same. */
const gzipBytesMin = 1400;

function toBytes(
  body: object,
  isClosed: boolean,
  { takesGzip, knownTag }: QuestionOf,
): AnswerBytes {
  const text = Buffer.from(JSON.stringify(body));
  const tag = `W/"${hash("sha256", text, "base64url").slice(0, 22)}"`;
  const caching = isClosed
    ? { etag: tag, "cache-control": "private, no-cache" }
    : { "cache-control": "no-store" };
  if (isClosed && isAmong(tag, knownTag)) {
    const headers = { vary: "accept-encoding", ...caching };
    return { status: 304, headers, body: new Uint8Array(), fault: null };
  }
  const isGzip = takesGzip && text.length >= gzipBytesMin;
  const coding = isGzip ? { "content-encoding": "gzip" } : {};
  return {
    status: 200,
    headers: { "content-type": "application/json", vary: "accept-encoding", ...coding, ...caching },
    body: isGzip ? gzipSync(text, { level: 4 }) : text,
    fault: null,
  };
}

/** Proxies send several tags, or the same one without its mark of weakness; a star means any. */
function isAmong(tag: string, known: string | null): boolean {
  if (known === null) return false;
  const bare = tag.replace("W/", "");
  return known.split(",").some((each) => {
    const given = each.trim();
    return given === "*" || given.replace(/^W\//, "") === bare;
  });
}

function toErrorBytes(error: unknown): AnswerBytes {
  const refusal = toRefusal(error);
  return {
    status: apiErrors[refusal.code].status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
    body: Buffer.from(JSON.stringify({ error: refusal })),
    fault: refusal.code === "internal" ? messageOf(error) : null,
  };
}
