// Places outside core/wire that ask for a protocol by its name, or reach into the folder of one.
import { dirname, join, normalize } from "node:path";

export interface NamedProtocol {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The name, or the module that is imported. */
  readonly what: string;
}

/** Where a protocol must be named, and why. */
export const exceptions: Readonly<Record<string, string>> = {
  "src/index.ts": "users import each protocol by its name",
  "src/core-index.ts": "users import each protocol by its name",
  "src/cli/setup/clients.ts": "a client's folder and the gateway's path are called so",
  "src/integrations/ai-sdk/reach-model.ts": "the AI SDK has words of its own for each protocol",
  "src/replay/readers/forms/gemini-messages.ts": "gemini-cli calls a reply so in its files",
  "src/replay/readers/read-gemini-cli.ts": "gemini-cli calls a reply so in its files",
  "src/replay/readers/otel/otel-events.ts": "a provider that a client names so in its events",
  "src/replay/readers/forms/messages-form.ts": "three formats of transcripts are written in it",
  "src/replay/readers/forms/responses-form.ts": "one format of transcripts is written in it",
};

/** The referee keeps its own words, and tests say which protocol they are about. */
export function isSearched(file: string): boolean {
  if (!file.startsWith("src/") || !file.endsWith(".ts")) return false;
  if (file.startsWith("src/core/wire/") || file.startsWith("src/simulator/")) return false;
  return !file.endsWith(".test.ts") && !file.endsWith("test-kit.ts");
}

/** Comments do not count. */
export function findProtocolNames(
  file: string,
  code: string,
  names: readonly string[],
): readonly NamedProtocol[] {
  const said = new RegExp(`(?<![\\w-])(?:${names.join("|")})(?![\\w-])`, "g");
  return withoutComments(code)
    .split("\n")
    .flatMap((text, index) => {
      const modules = [...text.matchAll(/["'`](\.[^"'`]+)["'`]/g)]
        .map(([, specifier = ""]) => normalize(join(dirname(file), specifier)))
        .filter(isOfProtocol);
      const found = modules.length > 0 ? modules : [...text.matchAll(said)].map(([name]) => name);
      return found.map((what) => ({ file, line: index + 1, what }));
    });
}

/** Every folder of core/wire is a protocol's, or that of its family, but for the one they share. */
function isOfProtocol(module: string): boolean {
  return /^src\/core\/wire\/(?!foreign\/)[^/]+\//.test(module);
}

/** Lines stay where they are. */
function withoutComments(code: string): string {
  return code
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ""))
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}
