// The files of the dashboard's page: those of the package, or in a clone built when they are first asked for.
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf, StrataError } from "../core/strata-error.ts";

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly tag: string;
}

/** By the end of their path; the document is the empty one. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** Works once; later calls give the same files. Rejects with what to do if they cannot be built. */
export function createPageFiles(): () => Promise<PageFiles> {
  let files: Promise<PageFiles> | null = null;
  return () => {
    files ??= readPage().catch((error: unknown) => {
      files = null;
      throw error;
    });
    return files;
  };
}

async function readPage(): Promise<PageFiles> {
  const packed = fileURLToPath(new URL("../page/", import.meta.url));
  const folder = existsSync(join(packed, "page.js")) ? packed : await buildFromSource();
  const read = (name: string, type: string): PageFile => {
    const body = readFileSync(join(folder, name));
    return { body, type, tag: `"${hash("sha256", body, "hex").slice(0, 32)}"` };
  };
  return new Map([
    ["", read("index.html", "text/html; charset=utf-8")],
    ["page.js", read("page.js", "text/javascript; charset=utf-8")],
    // Not served: it goes into pages that are one file.
    ["file.js", read("file.js", "text/javascript; charset=utf-8")],
    ["page.css", read("page.css", "text/css; charset=utf-8")],
  ]);
}

/** In a process of its own, because the server must not wait for it. Kept until the sources change. */
async function buildFromSource(): Promise<string> {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const kept = join(
    root,
    "node_modules",
    ".cache",
    "strata-page",
    keyOf(join(root, "src/dashboard")),
  );
  if (existsSync(join(kept, "page.js"))) return kept;
  try {
    const script = join(root, "scripts", "build-page.ts");
    await promisify(execFile)(process.execPath, [script, kept]);
  } catch (error) {
    throw new StrataError(
      "environment-unfit",
      `the page cannot be built: ${messageOf(error).slice(0, 400)}`,
      "run npm ci in the clone, or use the package",
      { cause: error },
    );
  }
  return kept;
}

function keyOf(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|css|html)$/.test(name))
    .toSorted();
  const text = names.map((name) => `${name}\n${readFileSync(join(folder, name), "utf8")}`);
  return hash("sha256", text.join("\n"), "hex").slice(0, 16);
}
