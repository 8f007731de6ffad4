// The places of configuration files, in order.
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { StrataError } from "../../core/strata-error.ts";
import type { Environment } from "../../core/config/environment.ts";
import type { ConfigFile } from "./read-config-file.ts";
import {
  isInside,
  trustByHash,
  trustFirstContent,
  type FileTrust,
  type TrustedFile,
} from "./trusted-files.ts";

export interface WhereToLook {
  /** From `--config`; then no other file is read. */
  readonly given?: string | undefined;
  readonly env: Environment;
  /** The working folder. */
  readonly workspace: string;
  readonly homeFolder: string;
  /** The hash of a named file's content that the caller trusts; see `hashConfig`. */
  readonly trust?: string | undefined;
}

export interface ConfigPlace extends ConfigFile {
  /** Why this place is used, for people to read. */
  readonly reason: string;
}

export const configFileName = "strata.yaml";

/** The weakest first. Does not check whether they exist. A file that an agent can write has a `trust`, or is limited as found. */
export function findConfigFiles(where: WhereToLook): readonly ConfigPlace[] {
  const { workspace } = where;
  const named = namedFile(where);
  if (named !== null) {
    const include = includer(where, (path) =>
      trustByHash(toTrusted(path, { ...where, trust: undefined })),
    );
    const trust = trustByHash(toTrusted(named.path, where));
    return [isInside(workspace, named.path) ? { ...named, trust, include } : { ...named, include }];
  }
  const user = userFile(where);
  const found = findInWorkspace(resolve(workspace)).filter(({ path }) => path !== user.path);
  const isInReach = isInside(workspace, user.path);
  const include = includer(where, (path) =>
    isInReach ? trustFirstContent() : trustByHash(toTrusted(path, where)),
  );
  const own = { ...user, include };
  return [isInReach ? { ...own, trust: trustFirstContent() } : own, ...found];
}

/** What a file includes counts like the file itself: in the workspace, only trusted content is used. */
function includer(
  { workspace }: WhereToLook,
  trustOf: (path: string) => FileTrust,
): (path: string) => ConfigFile {
  const include = (path: string): ConfigFile => ({
    path,
    isFound: false,
    isNamed: false,
    include,
    ...(isInside(workspace, path) ? { trust: trustOf(path) } : {}),
  });
  return include;
}

/** Where the trusted content of a named file is recorded. */
export function toTrusted(path: string, where: WhereToLook): TrustedFile {
  const { workspace, trust: given } = where;
  return { path, storePath: findTrustStore(where), workspace, given };
}

/** Beside the user's own file. */
export function findTrustStore(where: Pick<WhereToLook, "env" | "homeFolder">): string {
  return join(dirname(userFile(where).path), "trusted.json");
}

function namedFile({ given, env }: WhereToLook): ConfigPlace | null {
  if (given !== undefined) {
    if (given === "") {
      throw new StrataError("usage", "--config names no file", "name a file");
    }
    return { path: resolve(given), isFound: false, isNamed: true, reason: "option --config" };
  }
  const path = env["STRATA_CONFIG"];
  if (path === undefined || path === "") return null;
  if (!isAbsolute(path)) {
    throw new StrataError(
      "config-invalid",
      `STRATA_CONFIG is ${path}, which is not an absolute path`,
      "a variable is read from every folder; write the whole path",
    );
  }
  return { path, isFound: false, isNamed: true, reason: "environment STRATA_CONFIG" };
}

function userFile({ env, homeFolder }: Pick<WhereToLook, "env" | "homeFolder">): ConfigPlace {
  const shared = env["XDG_CONFIG_HOME"];
  const isGiven = shared !== undefined && isAbsolute(shared);
  const folder = isGiven ? shared : join(homeFolder, ".config");
  const path = join(folder, "strata", configFileName);
  const reason = isGiven ? "your own, from XDG_CONFIG_HOME" : "your own";
  return { path, isFound: false, isNamed: false, reason };
}

/** From the root of the repository down to the workspace; without a repository, the workspace alone. */
function findInWorkspace(workspace: string): readonly ConfigPlace[] {
  const folders = foldersUp(workspace);
  const top = folders.findIndex((folder) => existsSync(join(folder, ".git")));
  const within = top === -1 ? folders.slice(0, 1) : folders.slice(0, top + 1);
  return within.toReversed().map((folder) => ({
    path: join(folder, configFileName),
    isFound: true,
    isNamed: false,
    reason: folder === workspace ? "of the workspace" : "of the repository it is in",
  }));
}

function foldersUp(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUp(parent)];
}
