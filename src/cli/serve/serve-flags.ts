// The words after `strata serve`, checked.
import { resolve } from "node:path";
import type { UpstreamConfig } from "../../core/config/schema/gateway.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandInput } from "../command.ts";

export interface ServeFlags {
  /** Null for the configured one. */
  readonly port: number | null;
  readonly host: string | null;
  readonly configFile: string | undefined;
  readonly upstreams: ReadonlyMap<string, UpstreamConfig>;
  readonly isSimulated: boolean;
  /** Plays a day of agents against the simulator. */
  readonly isDemo: boolean;
  /** Answers questions about a ledger, and forwards nothing. */
  readonly isOnlyApi: boolean;
  readonly store: string | undefined;
  /** A folder for whole requests and answers; null for none. */
  readonly recordFolder: string | null;
  /** Every conversation, with holdouts as configured. */
  readonly isOptimizing: boolean;
  readonly lines: "people" | "json" | "none";
}

export function readServeFlags({ values, switches }: CommandInput): ServeFlags {
  checkOnlyApi({ values, switches });
  checkDemo({ values, switches });
  return {
    port: readPort(values.get("port")),
    host: values.get("host") ?? null,
    configFile: values.get("config"),
    upstreams: readUpstreams(values.get("upstream") ?? ""),
    isSimulated: switches.has("sim") || switches.has("demo"),
    isDemo: switches.has("demo"),
    isOnlyApi: switches.has("only-api"),
    store: values.get("store"),
    recordFolder: readFolder(values.get("record")),
    isOptimizing: switches.has("optimize"),
    lines: switches.has("json") ? "json" : switches.has("quiet") ? "none" : "people",
  };
}

/** Options about forwarding would do nothing. */
function checkOnlyApi({ values, switches }: Pick<CommandInput, "values" | "switches">): void {
  if (!switches.has("only-api")) return;
  const other = ["sim", "demo", "upstream", "record", "optimize"].find(
    (name) => switches.has(name) || values.has(name),
  );
  if (other === undefined) return;
  throw usage(`--${other} is about calls, and --only-api forwards none`, "give one of them");
}

/** It has a ledger of its own, which every demo begins anew. */
function checkDemo({ values, switches }: Pick<CommandInput, "values" | "switches">): void {
  if (!switches.has("demo")) return;
  const other = ["store", "upstream"].find((name) => values.has(name));
  if (other === undefined) return;
  throw usage(
    `--${other} does not go with --demo, which plays into a ledger of its own`,
    "leave one out",
  );
}

function readFolder(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (text.trim() !== "") return resolve(text);
  throw usage("--record names no folder", "give one, as --record requests");
}

function readPort(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usage(`--port is ${text}`, "give a whole number from 0 to 65535");
}

function readUpstreams(text: string): ReadonlyMap<string, UpstreamConfig> {
  const given = text.split(",").filter((each) => each.trim() !== "");
  return new Map(
    given.map((each): [string, UpstreamConfig] => {
      const [, name = "", baseUrl = ""] = /^\s*([^=]+)=(\S+)\s*$/.exec(each) ?? [];
      const isName = /^[a-z0-9][a-z0-9._-]*$/.test(name) && !/^(?:u|strata|v\d.*)$/.test(name);
      const url = URL.parse(baseUrl);
      const isWeb = url !== null && /^https?:$/.test(url.protocol) && !baseUrl.includes("@");
      // The text is not repeated: the address may hold a key.
      if (!isName || !isWeb) {
        throw usage(
          "--upstream cannot be used",
          "give NAME=URL, as house=https://llm.example.com/v1",
        );
      }
      return [name, { baseUrl, protocol: null, headers: new Map() }];
    }),
  );
}

function usage(message: string, hint: string): StrataError {
  return new StrataError("usage", message, `${hint}; see: strata serve --help`);
}
