// The folder an agent works in and its documents. A simulated agent without a folder gets a temporary one.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  createWorkspaceCache,
  type WorkspaceCache,
} from "../../edge/files/workspace/workspace-cache.ts";
import type { FollowedConfig } from "../config/follow-config.ts";

export interface HostWorkspace {
  readonly path: string;
  /** Whether the folder was made here; `close` removes it. */
  readonly isTemporary: boolean;
  readonly documents: WorkspaceCache;
  close(): Promise<void>;
}

export async function openWorkspace(
  config: FollowedConfig,
  given: string | undefined,
  isSimulated: boolean,
): Promise<HostWorkspace> {
  const isTemporary = given === undefined && isSimulated;
  const path = isTemporary
    ? await mkdtemp(join(tmpdir(), "strata-workspace-"))
    : resolve(given ?? process.cwd());
  const documents = createWorkspaceCache({ times: () => config.now().workspaceCache });
  return {
    path,
    isTemporary,
    documents,
    close: async () => {
      try {
        documents.close();
      } finally {
        if (isTemporary) await rm(path, { recursive: true, force: true });
      }
    },
  };
}
