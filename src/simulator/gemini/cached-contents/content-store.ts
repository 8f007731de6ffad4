// The stored prefixes of all clients with what they contain, limited in size. Their bills are kept by the billing.
import type { ModelFacts } from "../../../core/models/model-facts.ts";
import { ApiError } from "../api-error.ts";
import type { PromptPart } from "../request/read-request.ts";

export interface CachedContent {
  /** `cachedContents/ID`, on Vertex below a project and a region. */
  readonly name: string;
  readonly workspace: string;
  /** As the client named it. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly displayName: string | null;
  readonly prompt: PromptPart;
  readonly tokens: number;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly expiresMs: number;
  /** The length of what it contains. */
  readonly characters: number;
}

export interface ContentStore {
  /** Refuses what exceeds the storage quota. */
  put(content: CachedContent, nowMs: number): void;
  /** Null if it is not there any more, or another client's. */
  find(name: string, workspace: string, nowMs: number): CachedContent | null;
  remove(name: string): void;
  /** A client's own, newest first. */
  list(workspace: string, nowMs: number): readonly CachedContent[];
}

/** A request body has at most 32 MB, so this is room for several of the longest. */
const charactersMax = 200_000_000;
const contentsMax = 10_000;

export function createContentStore(): ContentStore {
  const contents = new Map<string, CachedContent>();
  const dropExpired = (nowMs: number): void => {
    for (const [name, { expiresMs }] of contents) if (nowMs >= expiresMs) contents.delete(name);
  };
  return {
    put: (content, nowMs) => {
      dropExpired(nowMs);
      const others = [...contents.values()].filter(({ name }) => name !== content.name);
      const characters = others.reduce((sum, each) => sum + each.characters, content.characters);
      if (others.length >= contentsMax || characters > charactersMax) throw quotaExceeded();
      contents.set(content.name, content);
    },
    find: (name, workspace, nowMs) => {
      dropExpired(nowMs);
      const found = contents.get(name);
      return found?.workspace === workspace ? found : null;
    },
    remove: (name) => void contents.delete(name),
    list: (workspace, nowMs) => {
      dropExpired(nowMs);
      return [...contents.values()]
        .filter((each) => each.workspace === workspace)
        .toSorted((left, right) => right.createdMs - left.createdMs);
    },
  };
}

function quotaExceeded(): ApiError {
  return new ApiError(
    "RESOURCE_EXHAUSTED",
    "TotalCachedContentStorageTokensPerModel limit exceeded: the simulator stores no more.",
  );
}
