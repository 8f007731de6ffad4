import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { validateMessage } from "../message/validate-message.ts";
import { StrataError } from "../strata-error.ts";
import { readEvent, type AgentEvent } from "./event.ts";

const now = { iso: "2026-11-15T10:00:00.000Z" };

const event: AgentEvent = {
  content: "Why is CI red?",
  source: "slack:C1",
  timezone: "Europe/Berlin",
  platform: "Slack",
  platformActions: ["reply", "react"],
  hookData: [
    { text: "Branch: main", persist: false },
    { text: "Attached: build.log", persist: true },
    { text: "  ", persist: true },
  ],
};

describe("an event", () => {
  test("the message is stored with what hooks want to be kept, before the content", () => {
    const { current } = readEvent(event, "manager", now);
    expect(current).toEqual({
      role: "user",
      content: [
        { type: "text", text: "Attached: build.log" },
        { type: "text", text: "Why is CI red?" },
      ],
    });
    expect(validateMessage(current)).toEqual([]);
  });

  test("what holds for this call only is written in the lines and the order of seed 003 (X-04)", () => {
    expect(readEvent(event, "manager", now).volatile).toEqual([
      {
        name: "event",
        layer: "event",
        stability: "turn",
        text: [
          "Current time: 2026-11-15T10:00:00.000Z",
          "Timezone: Europe/Berlin",
          "Platform: Slack",
          "Available actions: reply, react",
          "Branch: main",
        ].join("\n"),
      },
    ]);
  });

  test("a worker does not learn the platform", () => {
    expect(readEvent(event, "worker", now).volatile[0]?.text).toBe(
      "Current time: 2026-11-15T10:00:00.000Z\nTimezone: Europe/Berlin\nBranch: main",
    );
  });

  test("the timezone is UTC where none is given, and actions without a platform are left out", () => {
    const bare: AgentEvent = {
      content: "Hi",
      source: "cli",
      timezone: " ",
      platformActions: ["x"],
    };
    expect(readEvent(bare, "unified", now).volatile[0]?.text).toBe(
      "Current time: 2026-11-15T10:00:00.000Z\nTimezone: UTC",
    );
  });

  test("blocks stay as they are", () => {
    const image = {
      type: "image",
      source: { kind: "url", url: "https://example.com/a.png" },
    } as const;
    const { current } = readEvent({ content: [image], source: "cli" }, "unified", now);
    expect(current.content).toEqual([image]);
  });

  test("source, platform and hooks are kept for the ledger, also where a worker does not see them (X-22)", () => {
    const context = { source: "slack:C1", platform: "Slack", hookCount: 2 };
    expect(readEvent(event, "worker", now).context).toEqual(context);
    expect(readEvent({ content: "Hi", source: "cli" }, "worker", now).context).toEqual({
      source: "cli",
      platform: null,
      hookCount: 0,
    });
  });

  test("a blank block among others is not sent, so that it cannot fail the session's later calls", () => {
    const content: AgentEvent["content"] = [
      { type: "text", text: "" },
      { type: "text", text: "Why is CI red?" },
      { type: "text", text: " \n\t" },
    ];
    expect(readEvent({ content, source: "cli" }, "unified", now).current.content).toEqual([
      { type: "text", text: "Why is CI red?" },
    ]);
  });

  test("an event that says nothing is refused, since providers refuse empty text", () => {
    const blank = { type: "text", text: "  " } as const;
    for (const content of ["", " \n", [], [blank], [blank, { ...blank, text: "" }]]) {
      expect(() => readEvent({ content, source: "cron" }, "unified", now)).toThrow(StrataError);
    }
    const hooks = [{ text: "Nightly run.", persist: true }];
    expect(
      readEvent({ content: "", source: "cron", hookData: hooks }, "unified", now).current.content,
    ).toEqual([{ type: "text", text: "Nightly run." }]);
  });
});

describe("time has one way into a prompt (H-09)", () => {
  test("the stored message and the ledger's note are the same at any time", () => {
    const later = readEvent(event, "manager", { iso: "2031-01-01T00:00:00.000Z" });
    const { current, context } = readEvent(event, "manager", now);
    expect(later.current).toEqual(current);
    expect(later.context).toEqual(context);
  });

  test("no other function that gives text to a prompt takes a time", () => {
    const core = join(import.meta.dirname, "..");
    const files = globSync(
      [
        "layers/*.ts",
        "tools/select-tools.ts",
        "assembly/{padding,operating-context,skill-index}.ts",
      ],
      { cwd: core, exclude: ["**/*.test.ts"] },
    );
    const takesTime = files.filter((file) => {
      const code = readFileSync(join(core, file), "utf8").replaceAll(/\/\/.*|\/\*[^]*?\*\//g, "");
      return /\b(now|iso|clock|timestamp|time)\??: |\w+(Ms|Us|At|Time)\??: /.test(code);
    });
    expect(files.length).toBeGreaterThanOrEqual(11);
    expect(takesTime).toEqual([join("layers", "event.ts")]);
  });
});
