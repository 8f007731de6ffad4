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
  readonly characters: number;
}

export interface Compared {
  readonly modelId: string;
  readonly settings: ReadRequest["settings"]["billable"];
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

/** The oldest are forgotten first, by number and by the length of what was sent. */
export function createResponseStore(
  responsesMax = 1_000,
  charactersMax = 200_000_000,
): ResponseStore {
  const responses = new Map<string, StoredResponse>();
  const owners = new Map<string, string>();
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
      responses.set(keyOf(workspace, response.id), response);
      for (const id of response.itemsById.keys()) owners.set(id, response.id);
      characters += response.characters;
      forgetOldest();
    },
    findItem: (workspace, id) => find(workspace, owners.get(id) ?? "")?.itemsById.get(id) ?? null,
  };
}

function keyOf(workspace: string, id: string): string {
  return `${workspace}\n${id}`;
}
