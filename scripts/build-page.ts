// The dashboard's page into a folder: one script, one style sheet, one document, and the script of pages that are one file. `npm run build` calls it, and a server that
// runs from source: node scripts/build-page.ts FOLDER.
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const source = fileURLToPath(new URL("../src/dashboard/page/", import.meta.url));

/** The folder appears whole or not at all, because another process may build the same. */
export async function buildPage(folder: string): Promise<void> {
  const made = `${folder}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  await Promise.all([
    bundlePage("main.tsx", join(made, "page.js")),
    bundlePage("file/main.tsx", join(made, "file.js")),
  ]);
  const chart = createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css");
  const styles = [chart, join(source, "style.css")].map((file) => readFileSync(file, "utf8"));
  writeFileSync(join(made, "page.css"), styles.join("\n"));
  cpSync(join(source, "index.html"), join(made, "index.html"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(made, folder);
}

async function bundlePage(entry: string, file: string): Promise<void> {
  const bundle = await rolldown({
    input: join(source, entry),
    platform: "browser",
    tsconfig: join(source, "tsconfig.json"),
  });
  await bundle.write({ file, format: "esm", minify: true });
  await bundle.close();
}

const [, script, folder] = process.argv;
if (script === fileURLToPath(import.meta.url) && folder !== undefined) await buildPage(folder);
