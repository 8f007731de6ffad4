// mcp: servers of the Model Context Protocol whose tools agents may use. Names as in edge/tools/mcp.
import { nodeAt } from "../config-node.ts";
import { flag, leaf, optionalTexts, text, texts, whole } from "../leaves.ts";
import { named, section, type Surroundings } from "../sections.ts";
import { reportError, type Spec } from "../spec.ts";
import { path } from "./places.ts";
import { checkHeaderNames, headersSpec, hide } from "./provider-headers.ts";
import { variable, webAddress } from "./providers.ts";

export interface McpServerConfig {
  /** A program of this machine; null for a server at an address. */
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  /** Variables of ours that it gets. */
  readonly passEnv: readonly string[];
  readonly folder: string | null;
  readonly url: string | null;
  readonly headers: ReadonlyMap<string, string>;
  /** The variable with a bearer token. */
  readonly tokenEnv: string | null;
  readonly tools: readonly string[] | null;
  readonly isTrusted: boolean;
  readonly connectMs: number;
  readonly timeoutMs: number;
}

const server: Spec<McpServerConfig> = section(
  "one server: a program (command) or an address (url)",
  {
    command: text("the program that speaks MCP on its input and output"),
    args: texts([], "its arguments"),
    env: named("variables for it, besides PATH, HOME and a few more", value()),
    pass_env: texts([], "variables of this process that it gets"),
    folder: path("where it runs; default: where Strata runs"),
    url: webAddress("the address of a server that speaks MCP over HTTP"),
    headers: headersSpec,
    token_env: variable("the variable with its bearer token"),
    tools: optionalTexts("its only tools that are used, by their names there; default: all"),
    trusted: flag(
      false,
      "believe it where it says that a tool only reads; such tools need no confirmation",
    ),
    connect_seconds: whole(
      { usual: 10, min: 1, max: 600 },
      "for the server to be there when the first session begins; its tools come later otherwise",
    ),
    timeout_seconds: whole({ usual: 60, min: 1, max: 86_400 }, "for one use of a tool"),
  },
  (get, around) => {
    const headers = get("headers");
    checkHeaderNames(around, headers);
    checkReach(around);
    return {
      command: get("command"),
      args: get("args"),
      env: get("env"),
      passEnv: get("pass_env"),
      folder: get("folder"),
      url: get("url"),
      headers,
      tokenEnv: get("token_env"),
      tools: get("tools"),
      isTrusted: get("trusted"),
      connectMs: get("connect_seconds") * 1000,
      timeoutMs: get("timeout_seconds") * 1000,
    };
  },
);

export type McpConfig = ReadonlyMap<string, McpServerConfig>;

export const mcp: Spec<McpConfig> = named("servers whose tools an agent may use, by name", server);

function value(): Spec<string> {
  return leaf({
    meaning: "the value of the variable",
    allowed: "text",
    usual: "",
    accept: (given) =>
      typeof given === "string" || typeof given === "number" ? String(given) : undefined,
    shape: { usual: null, fromText: (given) => given, show: hide },
  });
}

function checkReach({ node, context }: Surroundings): void {
  if (!context.isWhole) return;
  const given = ["command", "url"].filter((key) => nodeAt(node, [key]) !== undefined);
  if (given.length === 1) return;
  const place = node?.origin ?? { kind: "default" as const };
  const problem = given.length === 0 ? "has no command and no url" : "has a command and a url";
  const hint = "give the command of a program, or the url of a server";
  reportError(context, place, `${context.path} ${problem}`, hint);
}
