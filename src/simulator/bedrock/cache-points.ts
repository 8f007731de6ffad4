// Collects the blocks of a list. In Converse a cache point is a block of its own, and marks the block before it.
import { jsonText, type JsonObject } from "../json-source.ts";
import { fields, insideOf, objectOf, optionalText, type Member } from "./read-fields.ts";
import { invalid, invented } from "./refusal.ts";

/** A list that cache points can mark: blocks of content, or tools. */
export interface Marked {
  readonly blocks: readonly JsonObject[];
  readonly hasMark: boolean;
}

/** Collects blocks, and puts each cache point on the block before it. */
export interface Collector {
  add(block: JsonObject, kind: string): void;
  mark(point: Member<string>): void;
  readonly result: () => Marked;
}

/** `path` is the list's as the model's own API names it. */
export function createCollector(path: string): Collector {
  const blocks: JsonObject[] = [];
  let last: string | null = null;
  let hasMark = false;
  return {
    add: (block, kind) => {
      blocks.push(block);
      last = kind;
    },
    mark: (point) => {
      const ttl = readCachePoint(point);
      const before = blocks.at(-1);
      if (before === undefined || last === null)
        throw invented(`${point.at}: there is nothing before the cache point`);
      if (last === "reasoningContent")
        throw invalid(
          "Cache point cannot be inserted after reasoning block. Please remove the invalid cache point and try again.",
        );
      // Seen on AWS: the cache point after a document that is no PDF is not translated for the model.
      if (last === "document" && !isPdf(before))
        throw invalid(
          `The model returned the following errors: ${path}.${blocks.length}.type: Field required`,
        );
      if (last === "cachePoint") throw invented(`${point.at}: a cache point follows another one`);
      const mark = objectOf({ type: jsonText("ephemeral"), ttl: optionalText(ttl) });
      blocks[blocks.length - 1] = {
        kind: "object",
        fields: new Map([...before.fields, ["cache_control", mark]]),
      };
      last = "cachePoint";
      hasMark = true;
    },
    result: () => ({ blocks, hasMark }),
  };
}

function readCachePoint(point: Member<string>): string | null {
  const { inside } = insideOf(point);
  fields.oneOfAt(inside, "type", ["default"]);
  return fields.findOneOf(inside, "ttl", ["5m", "1h"]);
}

function isPdf(block: JsonObject): boolean {
  const source = block.fields.get("source");
  const type = source?.kind === "object" ? source.fields.get("media_type") : undefined;
  return type?.kind === "string" && type.text === "application/pdf";
}
