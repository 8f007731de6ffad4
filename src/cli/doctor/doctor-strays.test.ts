import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openLedger } from "../../edge/stores/open-ledger.ts";
import { createSimulator } from "../../simulator/index.ts";
import { strata } from "../test-kit.ts";
import type { Finding } from "./check-store.ts";

const apiKey = process.env["PLANTED_KEY"] ?? "";
const text = "Answer briefly and check what you say. ".repeat(1500);

interface Place {
  readonly model: string;
  /** The path of its provider's stored prefixes, and the model's name there. */
  readonly path: string;
  readonly named: string;
  readonly env: (url: string) => Readonly<Record<string, string>>;
}

const geminiApi: Place = {
  model: "gemini-api/gemini-3.8-flash",
  path: "/v1beta",
  named: "models/gemini-3.8-flash",
  env: (url) => ({ GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: url }),
};
const project = "projects/my-project/locations/europe-west4";
const vertex: Place = {
  model: "vertex/gemini-3.8-flash",
  path: `/v1/${project}`,
  named: `${project}/publishers/google/models/gemini-3.8-flash`,
  env: (url) => ({
    CLOUDSDK_AUTH_ACCESS_TOKEN: apiKey,
    GOOGLE_VERTEX_BASE_URL: url,
    GOOGLE_CLOUD_PROJECT: "my-project",
    GOOGLE_CLOUD_LOCATION: "europe-west4",
  }),
};

/** A ledger and a provider, with what a process left that was killed, and with what no program of ours made. */
async function leaveBehind({ model, path, named, env: toEnv }: Place = geminiApi) {
  const folder = mkdtempSync(join(tmpdir(), "strata-strays-"));
  const simulator = createSimulator({ seed: 1 });
  const server = await simulator.listen({ port: 0 });
  onTestFinished(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const store = async (displayName: string): Promise<string> => {
    const response = await fetch(`${server.url}${path}/cachedContents`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({
        model: named,
        systemInstruction: { parts: [{ text }] },
        ttl: "600s",
        displayName,
      }),
    });
    const { name } = (await response.json()) as { readonly name: string };
    return name;
  };
  const file = join(folder, "ledger.db");
  const ledger = await openLedger(file);
  await ledger.createSession({
    id: "s",
    agent: "coder",
    role: "unified",
    model: "gemini-3.8-flash",
    provider: "google",
  });
  const nowMs = Date.now();
  for (const id of ["named", "unnamed", "forgotten"]) {
    await ledger.addResource({
      id,
      sessionId: "s",
      kind: "stored prefix",
      provider: "google",
      model,
      tokens: 14_700,
      createdMs: nowMs,
      expiresMs: nowMs + 600_000,
    });
  }
  const name = await store("strata named");
  await ledger.changeResource("named", { state: "live", name });
  await store("strata unnamed");
  await store("strata forgotten");
  await ledger.changeResource("forgotten", { state: "gone", endedMs: nowMs });
  await store("mine");
  // Its process is taken for gone: the session it worked for is deleted.
  await ledger.deleteSession("s");
  await ledger.close();
  const env = { STRATA_STORE: file, ...toEnv(server.url) };
  return { env, simulator, file, name };
}

async function strays(
  env: Readonly<Record<string, string>>,
  ...typed: readonly string[]
): Promise<readonly Finding[]> {
  const { out } = await strata(env, "doctor", "--json", ...typed);
  const { findings } = JSON.parse(out) as { readonly findings: readonly Finding[] };
  return findings.filter((finding) => finding.name === "stored prefixes");
}

test.each([
  ["on the Gemini API", geminiApi],
  ["on Vertex", vertex],
])(
  "strata doctor lists what is kept for no running session, and deletes it on request, %s",
  async (_name, place) => {
    const { env, simulator, name } = await leaveBehind(place);
    const listed = await strays(env);
    expect(listed.map(({ state }) => state)).toEqual(["warning", "warning"]);
    const details = listed.map(({ detail }) => detail.replace(/kept until \S+;/, "kept until T;"));
    const advice = "kept until T; delete it with strata doctor --delete-strays";
    expect(details.toSorted()).toEqual(
      [
        `left behind: ${name} of a deleted session on ${place.model}, ${advice}`,
        `left behind: "strata unnamed" of a deleted session on ${place.model}, ${advice}`,
      ].toSorted(),
    );
    const deleted = await strays(env, "--delete-strays");
    expect(deleted.map(({ detail }) => detail.split(":")[0])).toEqual(["deleted", "deleted"]);
    const live = simulator.billing.stored.views(Date.now()).filter(({ state }) => state === "live");
    // What others made stays, and what this ledger knows nothing of any more.
    expect(live).toHaveLength(2);
    expect(await strays(env)).toEqual([
      {
        name: "stored prefixes",
        state: "ok",
        detail: "none is left; 0 in use, 2 that this ledger did not make",
      },
    ]);
  },
);

test("nothing is said and no provider is asked where prefixes were never stored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "strata-strays-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const store = join(folder, "ledger.db");
  await (await openLedger(store)).close();
  const env = {
    STRATA_STORE: store,
    GEMINI_API_KEY: apiKey,
    GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1",
  };
  expect(await strays(env)).toEqual([]);
});

test("what cannot be reached is said, and stays in the ledger", async () => {
  const { env, file } = await leaveBehind();
  const away = { ...env, GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1" };
  const found = await strays(away, "--delete-strays");
  expect(found.map(({ state }) => state)).toEqual(["warning", "warning", "warning"]);
  expect(found[0]?.detail).toContain("could not be deleted");
  expect(found[2]?.detail).toMatch(/^a provider could not be asked: google: /);
  const ledger = await openLedger(file);
  expect(await ledger.listResources()).toHaveLength(2);
  await ledger.close();
});
