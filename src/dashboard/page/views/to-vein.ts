// A sub-agent of the API's answer → a vein of the picture.
import type { Vein } from "../../picture/place-veins.ts";
import { nameChild } from "../../words/names.ts";
import type { Pictured } from "../app/rows.ts";

export function toVein(child: Pictured["children"][number]): Vein {
  return {
    session: child.session,
    name: nameChild(child),
    callCount: child.call_count,
    dollars: Number(child.cost_usd),
    calls: child.calls.map((call) => ({
      startMs: Date.parse(call.started_at),
      promptTokens: call.prompt_tokens,
      readTokens: call.read_tokens,
    })),
  };
}
