// A host whose model is scripted: a real provider's protocol over loopback, a ledger on disk, a workspace and a
// configuration that lets commands run without a question.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { openHost, type Host, type HostOptions } from "../../src/host/open-host.ts";
import { createSimulator, type Prompt, type Reply } from "../../src/simulator/index.ts";

export interface ScriptedCall {
  readonly name: string;
  readonly input: unknown;
}

export interface ScriptedHost {
  readonly host: Host;
  readonly workspace: string;
  /** The user's own configuration, outside the workspace. */
  readonly configFile: string;
  /** A folder beside the workspace, with the configuration and the ledger. */
  readonly outside: string;
  readonly notices: readonly string[];
  /** Every prompt that was sent. */
  readonly prompts: readonly Prompt[];
  /** Runs one turn that uses these tools in order; the results as the model read them. */
  readonly useTools: (
    calls: readonly ScriptedCall[],
    session?: string,
  ) => Promise<readonly string[]>;
}

export async function openScriptedHost(
  options: Partial<HostOptions> & { readonly config?: string } = {},
): Promise<ScriptedHost> {
  const folder = mkdtempSync(join(tmpdir(), "strata-scripted-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [workspace, outside] = [join(folder, "work"), join(folder, "outside")];
  mkdirSync(workspace);
  mkdirSync(outside);
  const configFile = join(outside, ".config/strata/strata.yaml");
  mkdirSync(dirname(configFile), { recursive: true });
  const { config = "", ...more } = options;
  writeFileSync(configFile, `tools: { toolset: full, bash: true, confirm: [] }\n${config}`);
  const prompts: Prompt[] = [];
  const queue: ScriptedCall[] = [];
  const model = (prompt: Prompt): Reply => {
    prompts.push(prompt);
    const next = queue.shift();
    if (next === undefined) return { parts: [{ kind: "text", text: "Done." }], stop: "end" };
    const inputJson = JSON.stringify(next.input);
    return { parts: [{ kind: "tool use", name: next.name, inputJson }], stop: "tool use" };
  };
  const server = await createSimulator({ seed: 1, clock: "virtual", model }).listen({ port: 0 });
  onTestFinished(() => server.close());
  const notices: string[] = [];
  const host = await openHost({
    workspace,
    homeFolder: outside,
    counter: cheapCounter,
    onNotice: (notice) => void notices.push(notice),
    ...more,
    env: {
      STRATA_DATA_DIR: outside,
      ANTHROPIC_API_KEY: plantedKey,
      ANTHROPIC_BASE_URL: server.url,
      ...more.env,
    },
  });
  onTestFinished(() => host.close());
  return {
    host,
    configFile,
    workspace,
    outside,
    notices,
    prompts,
    useTools: async (calls, id = "s1") => {
      queue.push(...calls);
      const session = await host.engine.session(id);
      await session.run("Go on.").result;
      const results = prompts.at(-1)?.turns.flatMap(({ toolResults }) => toolResults) ?? [];
      return results.slice(-calls.length).map(({ text }) => text);
    },
  };
}
