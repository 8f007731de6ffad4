// Claude Code: base URL and what it turns off, the status line, and a plugin with hooks, commands and the MCP server.
import { join } from "node:path";
import { toUpstream, given } from "../client-places.ts";
import type { ClientSetup, SetupPlace, Wish } from "../client-setup.ts";
import { shellWords } from "../program-words.ts";
import { claudePlugin, marketplace, pluginName } from "./claude-plugin.ts";

export const claudeSetup: ClientSetup = {
  name: "claude",
  title: "Claude Code",
  folder,
  plan: (place) => ({
    wishes: wishesOf(place),
    ownFiles: claudePlugin(place),
    notes: [
      "It reads its settings when it starts. A base URL turns off Remote Control, and traceparent unless CLAUDE_CODE_PROPAGATE_TRACEPARENT=1.",
    ],
  }),
};

function folder({ env, home }: SetupPlace): string {
  return given(env["CLAUDE_CONFIG_DIR"]) ?? join(home, ".claude");
}

function wishesOf(place: SetupPlace): readonly Wish[] {
  const file = join(folder(place), "settings.json");
  const at = (path: readonly string[], value: unknown): Wish => ({
    file,
    format: "json",
    path,
    value,
  });
  const kept = "yours stays";
  return [
    {
      ...at(["env", "ANTHROPIC_BASE_URL"], place.url),
      whenReplaced: (theirs) => toUpstream("anthropic", theirs),
    },
    // A base URL of its own turns both off (2.1.325).
    { ...at(["env", "ENABLE_TOOL_SEARCH"], "true"), keepTheirs: kept },
    { ...at(["env", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING"], "1"), keepTheirs: kept },
    {
      ...at(["statusLine"], {
        type: "command",
        command: shellWords([...place.program, "statusline"]),
      }),
      keepTheirs:
        "yours stays; to have Strata's line as well, let your command pass its input to strata statusline",
    },
    at(["extraKnownMarketplaces", marketplace], {
      source: { source: "directory", path: place.ownFolder },
    }),
    at(["enabledPlugins", `${pluginName}@${marketplace}`], true),
  ];
}
