// The plugin for Claude Code: a folder that is a marketplace with one plugin, which runs this installation of Strata.
import { join } from "node:path";
import packageJson from "../../../../package.json" with { type: "json" };
import type { OwnFile, SetupPlace } from "../client-setup.ts";
import { shellWords } from "../program-words.ts";

export const marketplace = "strata";
export const pluginName = "strata";

export function claudePlugin({ ownFolder, program }: SetupPlace): readonly OwnFile[] {
  const inside = join(ownFolder, pluginName);
  const [command = "", ...args] = program;
  const hook = [
    { hooks: [{ type: "command", command: shellWords([...program, "hook"]), timeout: 10 }] },
  ];
  const description = packageJson.description;
  return [
    json(join(ownFolder, ".claude-plugin", "marketplace.json"), {
      name: marketplace,
      owner: { name: "Strata" },
      plugins: [{ name: pluginName, source: `./${pluginName}`, description }],
    }),
    json(join(inside, ".claude-plugin", "plugin.json"), {
      name: pluginName,
      version: packageJson.version,
      description,
    }),
    json(join(inside, ".mcp.json"), {
      mcpServers: { strata: { command, args: [...args, "mcp"] } },
    }),
    json(join(inside, "hooks", "hooks.json"), {
      hooks: { PreModelSwitch: hook, PostCompact: hook },
    }),
    ...Object.entries(slashCommands).map(([name, { about, text }]) => ({
      file: join(inside, "commands", `${name}.md`),
      text: `---\ndescription: ${about}\n---\n\n${text}\n`,
    })),
  ];
}

const slashCommands = {
  cost: {
    about: "What the calls of the last days cost, and how much was read from the cache",
    text: "Call the tool strata_cost (from: 7d, group_by: model) and show its answer as a short table. Add nothing that it does not say.",
  },
  miss: {
    about: "Why the cache missed the last time, and what would have avoided it",
    text: "Call the tool strata_explain_last_miss and say in two sentences what happened, what it cost, and what would avoid it.",
  },
  context: {
    about: "What fills the context window, and until when the cache is warm",
    text: "Call the tool strata_context and show its answer as it is.",
  },
} as const;

function json(file: string, value: object): OwnFile {
  return { file, text: `${JSON.stringify(value, null, 2)}\n` };
}
