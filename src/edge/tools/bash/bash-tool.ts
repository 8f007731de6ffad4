// bash: a command in the workspace. It can do everything its user can, so it must be allowed explicitly.
import { requireLeasts } from "../../../core/tools/check-limits.ts";
import { ToolError, type ToolInput, type ToolOutput } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../files/guard/scoped-files.ts";
import { runCommand, type CommandEnd } from "./run-command.ts";
import { toObjectDefinition, type ScopedTool } from "../scoped-tool.ts";

export interface BashOptions {
  /** The source of the allowed variables. Without it, only a search path and a language are set. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The variables a command may see. Secrets live in the others. */
  readonly envAllowed?: readonly string[];
  readonly outputBytesMax?: number;
  /** The time between asking a command to end and killing it. */
  readonly killMs?: number;
}

const envAllowed: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TERM",
  "TMPDIR",
];

/** Linux's limit for one argument of a program. */
const commandBytesMax = 131_071;

const secondsDefault = 120;

/** Below the dispatcher's limit, so that the output so far is reported. */
const secondsMax = 590;

export function bashTool(workspace: ScopedFiles, options: BashOptions = {}): ScopedTool {
  const env = toEnvironment(options);
  const { outputBytesMax = 4_000_000, killMs = 2000 } = options;
  requireLeasts("bash", { outputBytesMax, killMs }, { outputBytesMax: 2, killMs: 0 });
  return {
    definition: toObjectDefinition(
      "bash",
      "Runs a command with bash in the workspace's folder and returns what it prints and its exit status. It has no terminal and no input. What it leaves in the background is ended with it, unless that left its process group (setsid).",
      {
        command: { type: "string", minLength: 1, maxLength: commandBytesMax },
        timeout_seconds: {
          type: "integer",
          minimum: 1,
          maximum: secondsMax,
          description: `When the command is ended; ${secondsDefault}.`,
        },
      },
      ["command"],
    ),
    needs: ["commands.run"],
    sideEffects: "execute",
    requiresWorkspace: true,
    run: async (input, { signal }) => {
      const { command, seconds } = readCommand(input);
      const end = await runCommand({
        command,
        folder: workspace.root,
        env,
        timeoutMs: seconds * 1000,
        killMs,
        outputBytesMax,
        signal,
      });
      return toOutput(command, seconds, end);
    },
  };
}

function toEnvironment(options: BashOptions): Readonly<Record<string, string>> {
  const env: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
  for (const name of options.envAllowed ?? envAllowed) {
    const value = options.env?.[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

function readCommand(input: ToolInput): { readonly command: string; readonly seconds: number } {
  const command = String(input["command"]);
  if (command.includes("\0")) {
    throw new ToolError("validation_error", "a command cannot hold a zero byte");
  }
  const bytes = Buffer.byteLength(command);
  if (bytes > commandBytesMax) {
    const hint = "write it to a file and run that";
    const size = `the command has ${bytes} bytes; ${commandBytesMax} are taken at most`;
    throw new ToolError("validation_error", `${size}: ${hint}`);
  }
  const seconds = input["timeout_seconds"];
  return { command, seconds: typeof seconds === "number" ? seconds : secondsDefault };
}

function toOutput(command: string, seconds: number, end: CommandEnd): ToolOutput {
  const printed = end.output === "" || end.output.endsWith("\n") ? end.output : `${end.output}\n`;
  const dropped =
    end.droppedBytes === 0 ? [] : [`${end.droppedBytes} bytes of its output were not kept`];
  const held = end.isHeldOpen ? ["something it started left its process group and still runs"] : [];
  const untilThen = ["", ...dropped, ...held].join("; ");
  switch (end.how) {
    case "timed out":
      throw new ToolError(
        "timeout",
        `the command was ended after ${seconds} s${untilThen}. Until then:\n${printed}`,
      );
    case "cancelled":
      throw new ToolError(
        "cancelled",
        `the command was cancelled${untilThen}. Until then:\n${printed}`,
      );
    case "ended": {
      const isFailed = end.status !== 0;
      const status = end.signal === null ? `exit status ${end.status}` : `ended by ${end.signal}`;
      const how = isFailed ? `failed: ${status}` : status;
      const rest = end.hasEndedRest ? ["what still ran in the background was ended"] : [];
      const metadata = { commandExecuted: command, exitStatus: end.status, signal: end.signal };
      const text = `${printed}[${[how, ...dropped, ...rest, ...held].join("; ")}]`;
      return { text, metadata, ...(isFailed && { isFailed }) };
    }
  }
}
