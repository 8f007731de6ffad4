// The API's client in the process that has the ledger: the same questions and answers, without a server.
import { fieldsIn, fieldsOf, textIn } from "../../core/message/fields.ts";
import { owner } from "../access/access.ts";
import type { ApiClient, ApiFailure } from "../client/open-client.ts";
import type { Asked } from "../routes/route.ts";
import { createQuestionReader, type ReaderOptions } from "./answer-question.ts";

export interface LedgerClient extends ApiClient {
  close(): Promise<void>;
}

/** Only for routes that read the ledger. A missing ledger is a refusal; it is looked for again with every question. */
export function createLedgerClient(options: ReaderOptions): LedgerClient {
  const reader = createQuestionReader(options);
  return {
    ask: async (name, ...[given = {}]) => {
      const { status, body } = await reader.answer({
        route: name,
        // A query has the names of its route's parameters only.
        asked: { path: toTexts(given.path), query: toTexts(given.query), access: owner },
        nowMs: Date.now(),
        takesGzip: false,
        knownTag: null,
      });
      const value: unknown = JSON.parse(Buffer.from(body).toString());
      if (status !== 200) return { kind: "refused", status, error: toFailure(value) };
      // The route of this name made it.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { kind: "answer", answer: value as never };
    },
    close: () => reader.close(),
  };
}

function toTexts(values: object | undefined): Asked["path"] {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function toFailure(value: unknown): ApiFailure {
  const error = fieldsIn(fieldsOf(value), "error");
  const [code, message, hint] = ["code", "message", "hint"].map((name) => textIn(error, name));
  return { code: code ?? "internal", message: message ?? "no answer", hint: hint ?? "" };
}
