// The clients that `strata setup` knows, and the settings of each. Checked against the versions in docs/gateway.md.
import { join } from "node:path";
import { claudeSetup } from "./claude/claude-setup.ts";
import { given, toUpstream } from "./client-places.ts";
import type { ClientSetup, SetupPlace, Wish } from "./client-setup.ts";

export const clientSetups: readonly ClientSetup[] = [
  claudeSetup,
  {
    name: "codex",
    title: "Codex",
    folder: codexFolder,
    plan: (place) => ({
      wishes: [
        {
          file: join(codexFolder(place), "config.toml"),
          format: "toml",
          path: ["openai_base_url"],
          value: `${place.url}/v1`,
          whenReplaced: (theirs) => toUpstream("openai", theirs),
        },
      ],
      ownFiles: [],
      notes: [
        "It tries a WebSocket first, which passes without being observed: gateway.websocket: refuse in strata.yaml makes it use HTTP.",
        "A model_provider of your own has an own base_url, and does not read this one.",
      ],
    }),
  },
  {
    name: "gemini-cli",
    title: "gemini-cli",
    folder: geminiFolder,
    plan: (place) => ({
      wishes: [
        {
          file: join(geminiFolder(place), ".env"),
          format: "env",
          path: ["GOOGLE_GEMINI_BASE_URL"],
          value: `${place.url}/gemini`,
          whenReplaced: (theirs) => toUpstream("gemini", theirs),
        },
      ],
      ownFiles: [],
      notes: [
        "It reads the first .env that it finds from the working folder upwards, and this one only if there is none.",
      ],
    }),
  },
  {
    name: "letta",
    title: "letta",
    folder: lettaFolder,
    plan: (place) => ({
      wishes: [lettaWish(place)],
      ownFiles: [],
      notes: ["This is about its local backend, and the provider lc-anthropic there."],
    }),
  },
  {
    name: "opencode",
    title: "opencode",
    folder: opencodeFolder,
    plan: (place) => ({
      wishes: ["anthropic", "openai"].map((name) => ({
        file: join(opencodeFolder(place), "opencode.json"),
        format: "json",
        path: ["provider", name, "options", "baseURL"],
        value: `${place.url}/v1`,
        whenReplaced: (theirs) => toUpstream(name, theirs),
      })),
      ownFiles: [],
      notes: [],
    }),
  },
  {
    name: "pi",
    title: "pi",
    folder: piFolder,
    plan: (place) => ({
      wishes: [
        { name: "anthropic", value: place.url },
        { name: "openai", value: `${place.url}/v1` },
      ].map(({ name, value }) => ({
        file: join(piFolder(place), "models.json"),
        format: "json",
        path: ["providers", name, "baseUrl"],
        value,
        whenReplaced: (theirs) => toUpstream(name, theirs),
      })),
      ownFiles: [],
      notes: [],
    }),
  },
];

function lettaWish(place: SetupPlace): Wish {
  const provider = ["providers", "lc-anthropic"];
  return {
    file: join(lettaFolder(place), "providers", "auth.json"),
    format: "json",
    path: [...provider, "base_url"],
    value: place.url,
    needs: {
      path: provider,
      hint: "connect Anthropic in letta first: its key belongs into the same place",
    },
    whenReplaced: (theirs) => toUpstream("anthropic", theirs),
  };
}

function codexFolder({ env, home }: SetupPlace): string {
  return given(env["CODEX_HOME"]) ?? join(home, ".codex");
}

function geminiFolder({ home }: SetupPlace): string {
  return join(home, ".gemini");
}

function lettaFolder({ env, home }: SetupPlace): string {
  return given(env["LETTA_LOCAL_BACKEND_DIR"]) ?? join(home, ".letta", "lc-local-backend");
}

function opencodeFolder({ env, home }: SetupPlace): string {
  return join(given(env["XDG_CONFIG_HOME"]) ?? join(home, ".config"), "opencode");
}

function piFolder({ home }: SetupPlace): string {
  return join(home, ".pi", "agent");
}
