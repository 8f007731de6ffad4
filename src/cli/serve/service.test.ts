// Goal: a service is written as shown, and only what was written is removed. Method: a home of the test's own.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { CommandInput } from "../command.ts";
import { createTestIo } from "../test-kit.ts";
import { describeService, installService, uninstallService, type ServicePlace } from "./service.ts";

function openPlace(platform: NodeJS.Platform): ServicePlace {
  const home = mkdtempSync(join(tmpdir(), "strata-home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return { platform, home, env: {} };
}

const input: CommandInput = {
  operands: [],
  switches: new Set(["install", "quiet"]),
  values: new Map([["port", "9000"]]),
};

test("on Linux it is a systemd unit of the user, with the words escaped", () => {
  const place: ServicePlace = { platform: "linux", home: "/people/ana", env: {} };
  const words = ["/usr/bin/node", "/opt/50% $HOME/main.js", "serve"];
  expect(describeService(words, place)).toEqual({
    file: "/people/ana/.config/systemd/user/strata-gateway.service",
    text: [
      "# Written by strata serve --install; strata serve --uninstall removes it.",
      "[Unit]",
      "Description=Strata gateway",
      "After=network-online.target",
      "",
      "[Service]",
      'ExecStart=/usr/bin/node "/opt/50%% $$HOME/main.js" serve',
      "ExecReload=/bin/kill -HUP $MAINPID",
      "Restart=on-failure",
      "RestartSec=2",
      "TimeoutStopSec=60",
      "WorkingDirectory=%h",
      "",
      "[Install]",
      "WantedBy=default.target",
      "",
    ].join("\n"),
    start: ["systemctl --user daemon-reload", "systemctl --user enable --now strata-gateway"],
    stop: ["systemctl --user disable --now strata-gateway"],
  });
});

test("on macOS it is a launchd agent", () => {
  const place: ServicePlace = { platform: "darwin", home: "/Users/ana", env: {} };
  const { file, text } = describeService(["node", "a&b.js"], place);
  expect(file).toBe("/Users/ana/Library/LaunchAgents/strata-gateway.plist");
  expect(text).toContain("    <string>node</string>\n    <string>a&amp;b.js</string>\n");
});

test("elsewhere there is none", () => {
  const place: ServicePlace = { platform: "win32", home: "C:/ana", env: {} };
  expect(() => describeService([], place)).toThrow("no user service for win32");
});

test("the file is shown, written with the other options, written again, and removed", () => {
  const place = openPlace("linux");
  const { io, said } = createTestIo();
  expect(installService(input, io, place)).toBe(0);
  const { file } = describeService([], place);
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(/^ExecStart=\S+ \S+ serve --port 9000 --quiet$/m);
  expect(said.out.startsWith(`${file}\n\n${text}\nWritten.\n`)).toBe(true);
  expect(installService(input, io, place)).toBe(0);
  expect(said.out).toContain("Written over the one that was there.");
  expect(uninstallService(io, place)).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(() => uninstallService(io, place)).toThrow(`there is no ${file}`);
});

test("a file of another hand is neither replaced nor removed", () => {
  const place = openPlace("linux");
  const { io } = createTestIo();
  const { file } = describeService([], place);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "[Unit]\n");
  expect(() => installService(input, io, place)).toThrow("was not written by strata");
  expect(() => uninstallService(io, place)).toThrow("was not written by strata");
  expect(readFileSync(file, "utf8")).toBe("[Unit]\n");
});
