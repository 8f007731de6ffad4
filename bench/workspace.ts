// The workspace cache: disk reads, delay until an edit is seen, and the cost of warm and cold requests.
import { readFileSync, watch } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { median, medianMsOf } from "../harness/measure.ts";
import { atMost, exactly, wholeNumber, type Experiment } from "../harness/report.ts";
import { openScope } from "../src/edge/files/guard/scoped-files.ts";
import { grepTool } from "../src/edge/tools/files/grep-tool.ts";
import { createWorkspaceCache } from "../src/edge/files/workspace/workspace-cache.ts";

const requestCount = 1000;
const warmPerRound = 1000;
/** A file people edit, a file a store replaces, and a document in a subfolder. */
const edited = ["AGENTS.md", ".strata/MEMORY.md", "docs/guide-3.md"];
const extras = Array.from({ length: 10 }, (_, index) => `docs/guide-${index}.md`);
const sizes: Readonly<Record<string, number>> = {
  "AGENTS.md": 20_000,
  "CLAUDE.md": 6000,
  "IDENTITY.md": 400,
  "SOUL.md": 3000,
  "USER.md": 1200,
  ".strata/MEMORY.md": 2200,
  ...Object.fromEntries(extras.map((path) => [path, 8000])),
};

export const experiment: Experiment = {
  summary:
    "workspace bundle: reads of 1,000 concurrent misses, time until an edit is seen, warm and cold requests",
  options: {
    edits: "edits that are waited for (30)",
    debounce: "milliseconds from a change to the drop of what is kept (100)",
  },
  async run(settings) {
    const edits = wholeNumber(settings, "edits", 30);
    const watchDebounceMs = wholeNumber(settings, "debounce", 100);
    const root = await mkdtemp(join(tmpdir(), "strata-bench-workspace-"));
    try {
      for (const [path, bytes] of Object.entries(sizes)) await put(root, path, textOf(bytes));
      for (let folder = 0; folder < 200; folder += 1) {
        await put(root, `src/part-${folder}/module.ts`, "export {};\n");
      }
      settings.progress("a thousand at once");
      const concurrent = await measureConcurrent(root);
      settings.progress(`${edits} edits`);
      const seen = await measureEdits(root, edits, watchDebounceMs);
      const seenMs = seen.map((edit) => edit.ms);
      settings.progress("warm and cold");
      const ms = await measureRequests(root);
      settings.progress("grep beside 800 skills");
      const grepRatio = await measureGrepBesideSkills(root, 800);
      return {
        figures: {
          "bundle files": concurrent.files,
          "bundle bytes": concurrent.bytes,
          "loads of 1,000 concurrent misses": concurrent.loads,
          "paths looked for": concurrent.paths,
          "debounce ms": watchDebounceMs,
          "edit seen ms, median": median(seenMs),
          "edit seen ms, slowest": Math.max(...seenMs),
          "edit seen by a bare watcher ms, median": median(seen.map(({ bareMs }) => bareMs)),
          "1,000 concurrent misses ms, watch included": concurrent.firstMs,
          "cold request ms": ms.cold,
          "plain reads of the same files ms": ms.plain,
          "warm request ms": ms.warm / warmPerRound,
          "cold over warm": (ms.cold / ms.warm) * warmPerRound,
          "grep beside 800 skills over grep beside none": grepRatio,
        },
        checks: [
          exactly("1,000 concurrent misses read the disk once", concurrent.readsMax, 1),
          exactly("bundles they got", concurrent.bundles, 1),
          atMost(
            "edit visible, slowest over a bare watcher with the same debounce",
            seen.length === edits ? Math.max(...seen.map((edit) => edit.ms / edit.bareMs)) : null,
            3,
          ),
          atMost("grep beside 800 skills over grep beside none", grepRatio, 1.5),
        ],
      };
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
};

/** The agent's grep, which the simulated agent uses often, in the same folder with and without skills. */
async function measureGrepBesideSkills(root: string, count: number): Promise<number> {
  const beside = `${root}-skills`;
  try {
    await cp(root, beside, { recursive: true });
    for (let index = 0; index < count; index += 1) {
      const name = `skill-${index}`;
      const text = `---\nname: ${name}\ndescription: What it does.\n---\n\n${textOf(500)}`;
      await put(beside, `.strata/skills/${name}/SKILL.md`, text);
    }
    const [none, many] = [await openGrep(root), await openGrep(beside)];
    const ms = await medianMsOf({ none, many }, { rounds: 5 });
    return ms.many / ms.none;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function openGrep(root: string): Promise<() => Promise<unknown>> {
  const tool = grepTool(await openScope(root));
  const { signal } = new AbortController();
  const call = { sessionId: "s", turnId: "t", toolUseId: "u", role: "unified", signal } as const;
  return () => tool.run({ pattern: "no such words" }, call);
}

interface Concurrent {
  readonly loads: number;
  readonly paths: number;
  /** The largest number of reads of one path. */
  readonly readsMax: number;
  readonly bundles: number;
  readonly files: number;
  readonly bytes: number;
  readonly firstMs: number;
}

async function measureConcurrent(root: string): Promise<Concurrent> {
  const reads = new Map<string, number>();
  const cache = createWorkspaceCache({
    openFiles: async (folder) => {
      const files = await openScope(folder);
      return {
        nameOf: (path) => files.nameOf(path),
        stat: (path) => files.stat(path),
        readFile: (path, options) => {
          reads.set(path, (reads.get(path) ?? 0) + 1);
          return files.readFile(path, options);
        },
      };
    },
  });
  const start = performance.now();
  const bundles = await Promise.all(
    Array.from({ length: requestCount }, () => cache.load({ root, scope: "main", extras })),
  );
  const firstMs = performance.now() - start;
  const loads = cache.metrics()[0]?.loads ?? 0;
  cache.close();
  const files = bundles[0]?.files ?? [];
  return {
    loads,
    paths: reads.size,
    readsMax: Math.max(...reads.values()),
    bundles: new Set(bundles).size,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    firstMs,
  };
}

interface SeenEdit {
  readonly ms: number;
  /** The same edit, seen by a watcher without a cache. */
  readonly bareMs: number;
}

/** Time from an edit to the first request that shows it; every second edit replaces the file by a rename. */
async function measureEdits(
  root: string,
  edits: number,
  watchDebounceMs: number,
): Promise<readonly SeenEdit[]> {
  const cache = createWorkspaceCache({ watchDebounceMs });
  const seen: SeenEdit[] = [];
  await cache.load({ root, scope: "main", extras });
  for (let edit = 0; edit < edits; edit += 1) {
    const path = edited[edit % edited.length] ?? "AGENTS.md";
    const text = `edit ${edit}\n${textOf(2000)}`;
    const isReplaced = edit % 2 === 1;
    const bare = watchBare(join(root, path), text, watchDebounceMs);
    await put(root, isReplaced ? "fresh.tmp" : path, text);
    if (isReplaced) await rename(join(root, "fresh.tmp"), join(root, path));
    const start = performance.now();
    for (let waitedMs = 0; waitedMs < 5000; waitedMs = performance.now() - start) {
      const { files } = await cache.load({ root, scope: "main", extras });
      if (files.some((file) => file.path === path && file.text === text)) {
        const ms = performance.now() - start;
        seen.push({ ms, bareMs: (await bare) - start });
        break;
      }
      await pause(2);
    }
    // Late effects of the last edit must not help the next one.
    await pause(watchDebounceMs + 50);
  }
  cache.close();
  return seen;
}

/** When a file shows the text, by the least that a watcher has to do: wait for quiet, then read. NaN after 5 seconds. */
function watchBare(path: string, text: string, debounceMs: number): Promise<number> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const end = (seenMs: number): void => {
      clearTimeout(limit);
      watcher.close();
      resolve(seenMs);
    };
    const limit = setTimeout(() => end(Number.NaN), 5000);
    const watcher = watch(dirname(path), () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (readFileSync(path, "utf8") === text) end(performance.now());
      }, debounceMs);
    });
  });
}

async function measureRequests(
  root: string,
): Promise<Readonly<Record<"cold" | "warm" | "plain", number>>> {
  const cache = createWorkspaceCache();
  const load = (): Promise<unknown> => cache.load({ root, scope: "main", extras });
  const ms = await medianMsOf(
    {
      cold: () => {
        cache.invalidate(root);
        return load();
      },
      warm: async () => {
        for (let request = 0; request < warmPerRound; request += 1) await load();
      },
      plain: () =>
        Promise.all(Object.keys(sizes).map((path) => readFile(join(root, path), "utf8"))),
    },
    { rounds: 21, warmups: 3 },
  );
  cache.close();
  return ms;
}

async function put(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

function textOf(bytes: number): string {
  return "Prefer what is simple, and say why. ".repeat(Math.ceil(bytes / 36)).slice(0, bytes);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
