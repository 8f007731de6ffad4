// Goal: a simulated model never works with a real one's folder, tools or money, and no session changes sides. Method: the
// command with both kinds configured, on SQLite in a temporary folder; what ran is looked for on disk.
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { plantedOpenaiKey } from "../../harness/planted-key.ts";
import { leaveOpen, openChatKit, resumedBy, type ChatKit } from "./chat-kit.ts";

let kit: ChatKit;

beforeEach(async () => {
  kit = await openChatKit();
});

afterEach(() => kit.close());

/** A real provider of OpenAI's models, and Anthropic's are simulated. */
async function configureBoth(): Promise<readonly string[]> {
  const { url } = await kit.provide(null);
  delete kit.env["ANTHROPIC_API_KEY"];
  delete kit.env["ANTHROPIC_BASE_URL"];
  await mkdir(join(kit.folder, "work"));
  const file = join(kit.folder, "both.yaml");
  await writeFile(
    file,
    `providers:
  anthropic: { kind: simulator }
  openai: { base_url: "${url}/v1", api_key: ${plantedOpenaiKey} }
models: { default: gpt-6.1-sol }
`,
  );
  return ["--config", file];
}

test("a real session cannot be resumed with a simulated model, which would get its tools and folder", async () => {
  const words = [...(await configureBoth()), "--workspace", join(kit.folder, "work"), "--yes"];
  const { out } = await kit.chat({ words, lines: ["hello", "/model claude-sonnet-5-5", "/model"] });
  expect(out).toContain("claude-sonnet-5-5 would be simulated, and what runs here is real");
  expect(out).toContain("gpt-6.1-sol of openai");
});

test("the cost of a simulated model is never recorded as real money", async () => {
  const words = await configureBoth();
  await kit.chat({ words: [...words, "--model", "claude-sonnet-5-5"], prompt: "hi" });
  expect(await readdir(join(kit.folder, "data"))).toEqual(expect.arrayContaining(["simulated.db"]));
  expect(existsSync(join(kit.folder, "data", "ledger.db"))).toBe(false);
  await kit.chat({ words, prompt: "hi" });
  expect(existsSync(join(kit.folder, "data", "ledger.db"))).toBe(true);
});

test.each([[], ["--store", "own.db"]])(
  "the simulator does not resume a real session, and the error names the missing key (%#)",
  async (...named) => {
    const store = named.map((each) => (each === "own.db" ? join(kit.folder, each) : each));
    await kit.provide([{ text: "One." }]);
    const first = await kit.chat({ prompt: "hi", words: [...store, "--workspace", kit.folder] });
    delete kit.env["ANTHROPIC_API_KEY"];
    delete kit.env["ANTHROPIC_BASE_URL"];
    const again = kit.chat({ prompt: "hi", words: ["--resume", resumedBy(first), ...store] });
    await expect(again).rejects.toMatchObject({
      message: expect.stringContaining("was with anthropic, and only the simulator would answer"),
      hint: "set ANTHROPIC_API_KEY",
    });
  },
);

test("a simulated session is resumed simulated, in a new temporary folder if it had one", async () => {
  const first = await kit.chat({ prompt: "hi" });
  const again = await kit.chat({ prompt: "and now?", words: ["--resume", resumedBy(first)] });
  expect(again.status).toBe(0);
  await kit.provide([{ text: "One." }]);
  const really = kit.chat({ prompt: "hi", words: ["--resume", resumedBy(first)] });
  await expect(really).rejects.toThrow("was simulated, and a real provider would answer now");
});

test("a session whose folder is missing is resumed only with --workspace", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }]);
  const gone = join(kit.folder, "gone");
  await mkdir(gone);
  const first = await kit.chat({ prompt: "hi", words: ["--workspace", gone] });
  await rm(gone, { recursive: true });
  const words = ["--resume", resumedBy(first)];
  await expect(kit.chat({ prompt: "hi", words })).rejects.toMatchObject({
    message: expect.stringContaining(`does not exist: ${gone}`),
    hint: expect.stringContaining("--workspace"),
  });
  const { out } = await kit.chat({ prompt: "hi", words: [...words, "--workspace", kit.folder] });
  expect(out).toBe("Two.\n");
});

test("/sessions refuses a session of another folder and prints how to resume it", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }]);
  const [here, there] = [join(kit.folder, "here"), join(kit.folder, "there")];
  await mkdir(here);
  await mkdir(there);
  const id = resumedBy(await kit.chat({ prompt: "hi", words: ["--workspace", there] }));
  const { out } = await kit.chat({ lines: [`/sessions ${id}`], words: ["--workspace", here] });
  expect(out).toContain(`session ${id} works in ${there}, and this chat in ${here}`);
  expect(out).toContain(`strata chat --resume ${id}`);
});

test("/sessions resumes a session of this folder and its open turn", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
  const words = ["--workspace", kit.folder];
  const id = resumedBy(await kit.chat({ prompt: "first", words }));
  await leaveOpen(join(kit.folder, "data", "ledger.db"), id);
  const { out, error } = await kit.chat({ words, lines: [`/sessions ${id}`, "third"] });
  expect(out).toMatch(/The last turn was left open; resuming it\.\n\nTwo\.\n[\s\S]*Three\.\n/);
  expect(resumedBy({ error })).toBe(id);
});

test("a session is resumed with its own model where the default one has no key", async () => {
  await kit.provide([{ text: "One." }, { text: "Two." }]);
  kit.env["STRATA_MODELS__DEFAULT"] = "gpt-6.1-sol";
  await expect(kit.chat({ prompt: "hi" })).rejects.toThrow("gpt-6.1-sol cannot be reached");
  const words = ["--model", "claude-haiku-5-5", "--workspace", kit.folder];
  const id = resumedBy(await kit.chat({ prompt: "hi", words }));
  const { out } = await kit.chat({ prompt: "hi", words: ["--resume", id] });
  expect(out).toBe("Two.\n");
});

test("an unknown agent is refused where agents are configured", async () => {
  const file = join(kit.folder, "agents.yaml");
  await writeFile(file, "agents: { reviewer: { policy: adaptive } }\n");
  const asked = kit.chat({ prompt: "hi", words: ["--config", file, "--agent", "reviwer"] });
  await expect(asked).rejects.toMatchObject({
    message: "there is no agent reviwer",
    hint: "did you mean reviewer?",
  });
});
