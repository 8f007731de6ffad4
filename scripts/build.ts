// npm run build: the library with tsc, the program as one bundle that starts fast, and the page of the dashboard.
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { rolldown } from "rolldown";
import { buildPage } from "./build-page.ts";
import packageJson from "../package.json" with { type: "json" };

rmSync("dist", { recursive: true, force: true });
execFileSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" });

const bundle = await rolldown({
  input: "src/cli/main.ts",
  platform: "node",
  // Dependencies are not bundled; each command imports the ones it needs.
  external: [
    /^node:/,
    ...Object.keys({ ...packageJson.dependencies, ...packageJson.peerDependencies }).map(
      (name) => new RegExp(`^${name}(/|$)`),
    ),
  ],
});
await bundle.write({ dir: "dist/cli", format: "esm", chunkFileNames: "[name]-[hash].js" });
await bundle.close();
chmodSync("dist/cli/main.js", 0o755);
await buildPage("dist/page");
