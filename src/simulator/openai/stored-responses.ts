// Stored responses for previous_response_id, item references and diagnostics, limited in size.
import type { Item } from "./request/items.ts";
import type { ReadRequest } from "./request/read-request.ts";
import type { Rendering } from "./render/render.ts";

export interface StoredResponse {
  readonly id: string;
  /** The whole conversation with the reply; null if the client opted out of storing. */
  readonly items: readonly Item[] | null;
  readonly itemsById: ReadonlyMap<string, Item>;
  readonly compared: Compared;
}

export interface Compared {
  readonly modelId: string;
  readonly settings: ReadRequest["settings"]["billable"];
  /** Empty for models without breakpoints: they have no diagnostics, and against other models the model is the reason. */
  readonly blocks: Rendering["blocks"];
  readonly compactions: number;
  /** Tokens of the longest prefix kept for later requests. */
  readonly reusableTokens: number;
}

export interface ResponseStore {
  put(workspace: string, response: StoredResponse): void;
  find(workspace: string, id: string): StoredResponse | null;
  findItem(workspace: string, id: string): Item | null;
}

/** Drops the oldest first, by number and by total length. */
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
 * Copies items, because substrings of a request body keep the whole body in memory. Shares copies between the
 * responses of one conversation.
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

/** A block with its hash, as text. */
const blockCharacters = 100;

/** Items shared by several responses count for each of them, so the total is an upper bound. */
function charactersOf({ items, itemsById, compared }: StoredResponse): number {
  const blocks = compared.blocks.length * blockCharacters;
  const held = [...(items ?? []), ...itemsById.values()];
  return held.reduce((sum, item) => sum + JSON.stringify(item).length, blocks);
}

function keyOf(workspace: string, id: string): string {
  return `${workspace}\n${id}`;
}
