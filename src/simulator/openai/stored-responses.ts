// Responses the provider remembers: for previous_response_id, item references and diagnostics. Bounded.
import type { Item } from "./items.ts";
import type { ReadRequest } from "./read-request.ts";
import type { Rendering } from "./render.ts";

export interface StoredResponse {
  readonly id: string;
  /** The whole conversation with the reply; null where the client asked not to store it. */
  readonly items: readonly Item[] | null;
  /** Items of the reply by their ids. */
  readonly itemsById: ReadonlyMap<string, Item>;
  /** What diagnostics compare. */
  readonly compared: Compared;
}

export interface Compared {
  readonly modelId: string;
  readonly settings: ReadRequest["settings"]["billable"];
  /** Empty for models without breakpoints: they have no diagnostics, and another model is reason enough. */
  readonly blocks: Rendering["blocks"];
  readonly compactions: number;
  /** Tokens of the longest prefix that was kept for others. */
  readonly reusableTokens: number;
}

export interface ResponseStore {
  put(workspace: string, response: StoredResponse): void;
  find(workspace: string, id: string): StoredResponse | null;
  findItem(workspace: string, id: string): Item | null;
}

/** The oldest are forgotten first, by number and by the length of what they hold. */
export function createResponseStore(
  responsesMax = 1_000,
  charactersMax = 200_000_000,
): ResponseStore {
  const responses = new Map<string, StoredResponse & { readonly characters: number }>();
  const owners = new Map<string, string>();
  const detach = createDetach();
  let characters = 0;
  const forgetOldest = (): void => {
    for (const [key, response] of responses) {
      if (responses.size <= responsesMax && characters <= charactersMax) return;
      responses.delete(key);
      characters -= response.characters;
      for (const id of response.itemsById.keys()) owners.delete(id);
    }
  };
  const find = (workspace: string, id: string): StoredResponse | null =>
    responses.get(keyOf(workspace, id)) ?? null;
  return {
    find,
    put: (workspace, response) => {
      const items = response.items?.map(detach) ?? null;
      const held = { ...response, items, characters: charactersOf(response) };
      responses.set(keyOf(workspace, response.id), held);
      for (const id of response.itemsById.keys()) owners.set(id, response.id);
      characters += held.characters;
      forgetOldest();
    },
    findItem: (workspace, id) => find(workspace, owners.get(id) ?? "")?.itemsById.get(id) ?? null,
  };
}

/**
 * Text that was read is a window on the body of its request and keeps all of it in memory; a copy does not.
 * What was copied for an earlier response of the conversation is shared.
 */
function createDetach(): (item: Item) => Item {
  const detached = new WeakSet<Item>();
  return (item) => {
    if (detached.has(item)) return item;
    const copy = structuredClone(item);
    detached.add(copy);
    return copy;
  };
}

/** What a block, an item or a part takes besides its text. */
const objectCharacters = 100;

/** What several responses of a conversation share counts for each of them: rather too much than too little. */
function charactersOf({ items, itemsById, compared }: StoredResponse): number {
  const blocks = compared.blocks.length * objectCharacters;
  const held = [...(items ?? []), ...itemsById.values()];
  return held.reduce((sum, item) => sum + objectCharacters + itemCharacters(item), blocks);
}

/** Images and files are held as they were sent, so their tokens say nothing of their length. */
function itemCharacters(item: Item): number {
  switch (item.kind) {
    case "message":
    case "tool output":
      return item.parts.reduce(
        (sum, part) => sum + (part.kind === "text" ? part.text : part.source).length,
        item.parts.length * objectCharacters,
      );
    case "tool use":
      return item.name.length + item.input.length;
    case "tools":
      // Once as they were sent and once as they were read.
      return item.source.length * 2;
    case "reasoning":
      return item.summary.length + (item.sealed?.length ?? 0);
    case "compaction":
      return item.sealed.length;
    case "configuration":
    case "other":
      return item.source.length;
  }
}

function keyOf(workspace: string, id: string): string {
  return `${workspace}\n${id}`;
}
