// The gateway as a service of this user: a systemd unit, or a launchd agent on macOS. Nothing else is written or started.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { StrataError } from "../../core/strata-error.ts";
import type { CommandInput, Io } from "../command.ts";

export interface ServicePlace {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Io["env"];
}

export interface Service {
  readonly file: string;
  readonly text: string;
  /** What to type after it was written, and before it is removed. */
  readonly start: readonly string[];
  readonly stop: readonly string[];
}

/** By this line a file is known to be ours. */
const mark = "Written by strata serve --install";
const label = "strata-gateway";

/** `program`: the words that start it. */
export function describeService(program: readonly string[], place: ServicePlace): Service {
  const { platform, home, env } = place;
  if (platform === "darwin") {
    const file = join(home, "Library", "LaunchAgents", `${label}.plist`);
    return {
      file,
      text: renderPlist(program),
      start: [`launchctl bootstrap gui/$UID ${file}`],
      stop: [`launchctl bootout gui/$UID ${file}`],
    };
  }
  if (platform !== "linux") {
    throw new StrataError(
      "environment-unfit",
      `there is no user service for ${platform} here`,
      "start strata serve with the service manager of this system",
    );
  }
  const given = env["XDG_CONFIG_HOME"] ?? "";
  const folder = given === "" ? join(home, ".config") : given;
  return {
    file: join(folder, "systemd", "user", `${label}.service`),
    text: renderUnit(program),
    start: ["systemctl --user daemon-reload", `systemctl --user enable --now ${label}`],
    stop: [`systemctl --user disable --now ${label}`],
  };
}

/** Ends by itself when it drains, and is started again only after a failure. */
function renderUnit(program: readonly string[]): string {
  return [
    `# ${mark}; strata serve --uninstall removes it.`,
    "[Unit]",
    "Description=Strata gateway",
    "After=network-online.target",
    "",
    "[Service]",
    `ExecStart=${program.map(quote).join(" ")}`,
    "ExecReload=/bin/kill -HUP $MAINPID",
    "Restart=on-failure",
    "RestartSec=2",
    "TimeoutStopSec=60",
    "WorkingDirectory=%h",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

/** systemd replaces what begins with % and $. */
function quote(word: string): string {
  const escaped = word
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", "$$$$");
  return /^[\w@%+=:,./-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}

function renderPlist(program: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${mark}; strata serve --uninstall removes it. -->`,
    '<plist version="1.0"><dict>',
    `  <key>Label</key><string>${label}</string>`,
    "  <key>ProgramArguments</key><array>",
    ...program.map((word) => `    <string>${escapeXml(word)}</string>`),
    "  </array>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
    "  <key>ExitTimeOut</key><integer>60</integer>",
    "</dict></plist>",
    "",
  ].join("\n");
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Shows the file, then writes it. The other options become those of the service. */
export function installService(
  input: CommandInput,
  io: Io,
  place: ServicePlace = ownPlace(io),
): number {
  const { file, text, start } = describeService(programOf(input), place);
  const there = readIfThere(file);
  if (there !== null && !there.includes(mark)) throw notOurs(file);
  io.out(`${file}\n\n${text}\n`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  io.out(
    [
      there === null ? "Written." : "Written over the one that was there.",
      "It does not see the variables of your shell: settings belong into strata.yaml. Start it with",
      ...start.map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );
  return 0;
}

/** Removes the file that `--install` wrote, and no other. */
export function uninstallService(io: Io, place: ServicePlace = ownPlace(io)): number {
  const { file, stop } = describeService([], place);
  const there = readIfThere(file);
  if (there === null) {
    throw new StrataError("not-found", `there is no ${file}`, "nothing is installed for this user");
  }
  if (!there.includes(mark)) throw notOurs(file);
  rmSync(file);
  io.out(
    [
      `Removed ${file}. If it still runs, stop it with`,
      ...stop.map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );
  return 0;
}

function ownPlace(io: Io): ServicePlace {
  return { platform: process.platform, home: homedir(), env: io.env };
}

function programOf({ values, switches }: CommandInput): readonly string[] {
  // The service runs in another folder.
  const given = [...values].flatMap(([name, value]) => [
    `--${name}`,
    name === "config" || name === "record" ? resolve(value) : value,
  ]);
  const set = [...switches].filter((name) => name !== "install").map((name) => `--${name}`);
  return [process.execPath, process.argv[1] ?? "strata", "serve", ...given, ...set];
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

function notOurs(file: string): StrataError {
  return new StrataError(
    "conflict",
    `${file} is there and was not written by strata serve --install`,
    "move it away first",
  );
}
