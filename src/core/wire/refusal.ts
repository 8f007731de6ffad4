// A refusal of a gateway's own, written as a provider would write it, so that clients react as they do to that provider.

export interface RefusalToEncode {
  readonly kind: RefusalKind;
  readonly message: string;
  /** After how many whole seconds the same request may succeed; null if that is not known. */
  readonly retryAfterSeconds: number | null;
}

export type RefusalKind = (typeof refusalKinds)[number];

export const refusalKinds = [
  "authentication",
  "permission",
  /** Money is used up: trying again soon is no use. */
  "billing",
  "rate-limited",
  "invalid-request",
  "request-too-large",
  "overloaded",
] as const;

export interface EncodedRefusal {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a protocol says for each kind. */
export type RefusalWords<Word> = Readonly<
  Record<RefusalKind, { readonly status: number; readonly word: Word }>
>;

/** An answer with a JSON body and the headers that all clients know. `headers`: in lower case, further ones. */
export function toRefusedAnswer(
  { retryAfterSeconds }: RefusalToEncode,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): EncodedRefusal {
  const wait = retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) };
  return {
    status,
    headers: { "content-type": "application/json", ...wait, ...headers },
    body: JSON.stringify(body),
  };
}

/** The header by which SDKs are told not to try again by themselves. */
export function withoutRetry({ kind }: RefusalToEncode): Readonly<Record<string, string>> {
  return kind === "billing" ? { "x-should-retry": "false" } : {};
}
