// Questions to the API: each with its answer, its refusal, or neither yet. Answers about the present are asked again.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { createClient, type ApiResult } from "../../../api/client/open-client.ts";

export const client = createClient();

export type Asked<Answer> = ApiResult<Answer> | { readonly kind: "waiting" };

/** Rises when the ledger has something new. */
export const news = signal(0);

/** Whether the API asks for a login. */
export const isStranger = signal(false);

/**
 * Asks again when one of `choices` changed or the ledger has something new. In the second case the last answer stays until the
 * next one is here, so that nothing flickers.
 */
export function useAnswer<Answer>(
  question: (signal: AbortSignal) => Promise<ApiResult<Answer>>,
  choices: readonly (string | number | null)[],
): Asked<Answer> {
  const key = JSON.stringify(choices);
  const [known, setKnown] = useState<{ key: string; result: ApiResult<Answer> } | null>(null);
  const seen = news.value;
  useEffect(() => {
    const left = new AbortController();
    void question(left.signal).then((result) => {
      if (left.signal.aborted) return;
      if (result.kind === "refused" && result.status === 401) isStranger.value = true;
      setKnown({ key, result });
    });
    return () => left.abort();
  }, [key, seen]);
  return known?.key === key ? known.result : { kind: "waiting" };
}

/** A value once it has not changed for a moment: walking through calls asks for the last one only. */
export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

const settleMs = 120;
