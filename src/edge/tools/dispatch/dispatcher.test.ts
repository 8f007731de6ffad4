import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolUseBlock } from "../../../core/message/message.ts";
import { StrataError } from "../../../core/strata-error.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import { findToolset } from "../../../core/tools/toolsets.ts";
import type { EventBus } from "../../events/event-bus.ts";
import { builtInTools } from "../built-in-tools.ts";
import {
  context,
  makeWorkspace,
  runOne,
  textOf,
  toolOf,
  useOf,
  type TestWorkspace,
} from "../test-kit.ts";
import type { ConfirmationRequest } from "./confirmation.ts";
import type { SettledUse } from "./dispatch-options.ts";
import { createDispatcher } from "./dispatcher.ts";

let workspace: TestWorkspace;

beforeEach(async () => {
  workspace = await makeWorkspace();
});

afterEach(() => workspace.remove());

const echo = toolOf("echo", async ({ text }) => ({ text: String(text) }));

describe("one use, one result (D-10)", () => {
  test("results are in the order of the uses, each a tool message of its own", async () => {
    const slow = toolOf("slow", async ({ text }) => {
      await sleep(30);
      return { text: `slow ${String(text)}` };
    });
    const dispatcher = createDispatcher({ tools: [echo, slow] });
    const uses = [useOf("slow", { text: "1" }), useOf("echo", { text: "2" }), useOf("nothing")];
    const messages = await dispatcher.runAll(uses, context);
    expect(messages.map(textOf)).toEqual([
      "slow 1",
      "2",
      'error: not_found: there is no tool called "nothing"; there are: echo, slow',
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["tool", "tool", "tool"]);
    const ids = messages.flatMap(({ content }) =>
      content.map((block) => (block.type === "tool_result" ? block.toolUseId : "")),
    );
    expect(ids).toEqual(uses.map(({ id }) => id));
  });

  test("input that breaks the schema is reported in full and the tool does not run", async () => {
    let count = 0;
    const tool = toolOf("count", async () => ({ text: String((count += 1)) }));
    const dispatcher = createDispatcher({ tools: [tool] });
    expect(await runOne(dispatcher, "count", { text: 1, txet: "" })).toBe(
      "error: validation_error: the input does not fit the tool's schema:\n- /text must be text, not 1\n- /txet is not known; did you mean text?",
    );
    expect(await runOne(dispatcher, "count", "{oops")).toContain("the input is not JSON");
    expect(await runOne(dispatcher, "count", "")).toBe("1");
    expect(count).toBe(1);
  });

  test("what a tool throws on purpose keeps its class, anything else is an execution_error that people do not see", async () => {
    const settled: SettledUse[] = [];
    const dispatcher = createDispatcher({
      tools: [
        toolOf("told", async () => {
          throw new ToolError("not_found", "no such thing", { isUserVisible: true });
        }),
        toolOf("broken", () => {
          throw new TypeError("password=hunter2 is not a function");
        }),
        toolOf("odd", async () => {
          // eslint-disable-next-line typescript/only-throw-error -- anything can be thrown.
          throw { toString: null };
        }),
        toolOf("silent", async () => JSON.parse("null") as never),
      ],
      onSettled: (each) => settled.push(each),
    });
    expect(await runOne(dispatcher, "told")).toBe("error: not_found: no such thing");
    expect(await runOne(dispatcher, "broken")).toBe(
      "error: execution_error: the tool failed: password=[redacted] is not a function",
    );
    expect(await runOne(dispatcher, "odd")).toContain("execution_error");
    expect(await runOne(dispatcher, "silent")).toBe(
      "error: execution_error: the tool gave no text",
    );
    expect(settled.map(({ toolName, failure }) => [toolName, failure?.isUserVisible])).toEqual([
      ["told", true],
      ["broken", false],
      ["odd", false],
      ["silent", false],
    ]);
    expect(settled[1]?.failure?.cause).toBeInstanceOf(TypeError);
  });

  test("an id that is used twice runs once", async () => {
    let count = 0;
    const tool = toolOf("count", async () => ({ text: String((count += 1)) }));
    const use = useOf("count");
    const messages = await createDispatcher({ tools: [tool] }).runAll([use, use], context);
    expect(messages.map(textOf)).toEqual([
      "1",
      "error: validation_error: another use has the same id",
    ]);
  });

  test("a result is never empty and never holds half a character", async () => {
    const tool = toolOf("half", async ({ text }) => ({
      text: text === "empty" ? " \n" : "a\ud800",
    }));
    const dispatcher = createDispatcher({ tools: [tool] });
    expect(await runOne(dispatcher, "half", { text: "empty" })).toBe("(no output)");
    expect(await runOne(dispatcher, "half")).toBe("a\ufffd");
  });

  test("a handler of results may fail; the result stands", async () => {
    const problems: unknown[] = [];
    const events: Pick<EventBus, "emit"> = {
      emit: () => {
        throw new StrataError("environment-unfit", "full", "wait");
      },
    };
    const dispatcher = createDispatcher({
      tools: [echo],
      events,
      onSettled: () => {
        throw new Error("of the listener");
      },
      onProblem: (problem) => problems.push(problem),
    });
    expect(await runOne(dispatcher, "echo", { text: "a" })).toBe("a");
    expect(problems.map(String)).toEqual([
      "StrataError: full",
      "StrataError: full",
      "Error: of the listener",
    ]);
  });
});

test("a handler of problems may fail, too: every use gets its result", async () => {
  const dispatcher = createDispatcher({
    tools: [echo],
    events: {
      emit: () => {
        throw new Error("closed");
      },
    },
    onProblem: () => {
      throw new Error("closed as well");
    },
  });
  expect(await runOne(dispatcher, "echo", { text: "a" })).toBe("a");
  expect(await runOne(dispatcher, "nothing")).toContain("error: not_found");
});

describe("registration and permission", () => {
  test("a schema outside the subset and a name that is taken are refused", () => {
    const definition = {
      name: "x",
      description: "X.",
      inputSchemaJson: '{"type":"object","anyOf":[]}',
    };
    expect(() => createDispatcher({ tools: [{ ...echo, definition }] })).toThrow(StrataError);
    expect(() => createDispatcher({ tools: [echo, echo] })).toThrow(
      "there are two tools called echo",
    );
  });

  test("a tool the role or the toolset does not have is not offered and cannot be called", async () => {
    const tools = [
      toolOf("memory_add", async () => ({ text: "written" }), { needs: ["memory.write"] }),
      toolOf("bash", async () => ({ text: "ran" }), { needs: ["commands.run"] }),
      echo,
    ];
    const dispatcher = createDispatcher({ tools, toolset: findToolset("workspace") });
    const namesFor = (role: "worker" | "unified"): string[] =>
      dispatcher.toolsFor(role).tools.map(({ definition }) => definition.name);
    expect(namesFor("unified")).toEqual(["echo", "memory_add"]);
    expect(namesFor("worker")).toEqual(["echo"]);
    expect(dispatcher.offered()).toHaveLength(3);
    expect(await runOne(dispatcher, "bash")).toBe(
      "error: permission_denied: the tool bash may not be used here: not granted: commands.run",
    );
    expect(await runOne(dispatcher, "memory_add", {}, { ...context, role: "worker" })).toBe(
      "error: permission_denied: the tool memory_add may not be used here: not for the role worker",
    );
    expect(await runOne(dispatcher, "memory_add")).toBe("written");
  });

  test("a session opened with what a role gets is offered that, and nothing else", () => {
    const tools = [
      toolOf("read", async () => ({ text: "" }), { needs: ["files.read"] }),
      toolOf("bash", async () => ({ text: "" }), { needs: ["commands.run"] }),
      toolOf("delegate", async () => ({ text: "" })),
    ];
    const toolset = { name: "mine", granted: ["files.read"], tools: ["read", "delegate", "raed"] };
    const {
      tools: told,
      permissions,
      toolsLeft,
    } = createDispatcher({ tools, toolset }).toolsFor("worker");
    expect(told).toEqual([tools[0]]);
    expect(permissions).toEqual(["files.read"]);
    expect(toolsLeft.map(({ name }) => name)).toEqual(["bash", "delegate", "raed"]);
  });

  test("a tool that needs a workspace does not run without one", async () => {
    const tool = toolOf("files", async () => ({ text: "" }), { requiresWorkspace: true });
    expect(await runOne(createDispatcher({ tools: [tool] }), "files")).toBe(
      "error: permission_denied: this session has no workspace",
    );
  });
});

describe("at most four run per session at a time", () => {
  test("over all replies of a session, and each session for itself", async () => {
    let running = 0;
    const highest = new Map<string, number>();
    const tool = toolOf("busy", async (_input, { sessionId }) => {
      running += 1;
      highest.set(sessionId, Math.max(highest.get(sessionId) ?? 0, running));
      await sleep(5);
      running -= 1;
      return { text: "" };
    });
    const dispatcher = createDispatcher({ tools: [tool] });
    await Promise.all([
      dispatcher.runAll(sevenUses(), context),
      dispatcher.runAll(sevenUses(), context),
    ]);
    expect(highest.get("s1")).toBe(4);
    const other = { ...context, sessionId: "s2" };
    await Promise.all([
      dispatcher.runAll(sevenUses(), context),
      dispatcher.runAll(sevenUses(), other),
    ]);
    expect(highest.get("s2")).toBe(8);
  });

  test("a use that waits is cancelled without running", async () => {
    const controller = new AbortController();
    const started: string[] = [];
    const tool = toolOf("wait", async ({ text }, { signal }) => {
      started.push(String(text));
      await sleep(10_000, null, { signal });
      return { text: "" };
    });
    const dispatcher = createDispatcher({ tools: [tool], limits: { atOnceMax: 1 } });
    const uses = [useOf("wait", { text: "1" }), useOf("wait", { text: "2" })];
    const results = dispatcher.runAll(uses, { ...context, signal: controller.signal });
    await sleep(10);
    controller.abort();
    expect((await results).map(textOf)).toEqual([
      "error: cancelled: cancelled while it ran",
      "error: cancelled: cancelled before it ran",
    ]);
    expect(started).toEqual(["1"]);
  });
});

describe("the order of one reply", () => {
  const log: string[] = [];
  const note = (name: string, parts: Parameters<typeof toolOf>[2]) =>
    toolOf(
      name,
      async ({ text }) => {
        log.push(`+${String(text)}`);
        await sleep(5);
        log.push(`-${String(text)}`);
        return { text: "" };
      },
      parts,
    );
  const tools = [
    note("look", { sideEffects: "read" }),
    note("change", { sideEffects: "write" }),
    note("send", { sideEffects: "network", runsTogether: true }),
  ];
  const run = async (names: string, confirm?: (text: string) => Promise<boolean>) => {
    log.length = 0;
    const uses = names.split(" ").map((name, at) => useOf(name, { text: String(at) }));
    const asking = confirm && {
      confirm: ({ input }: ConfirmationRequest) => confirm(String(input["text"])),
    };
    const dispatcher = createDispatcher({ tools, confirmed: ["read", "network"], ...asking });
    const messages = await dispatcher.runAll(uses, context);
    expect(messages).toHaveLength(uses.length);
    return log.join(" ");
  };

  test("reads run together, up to the next use with side effects", async () => {
    expect(await run("look nothing look change change look look")).toBe(
      "+0 +2 -0 -2 +3 -3 +4 -4 +5 +6 -5 -6",
    );
  });

  test("uses of a tool that runs together wait for others before them, not for each other", async () => {
    expect(await run("look send send change")).toBe("+0 -0 +1 +2 -1 -2 +3 -3");
  });

  test("questions about uses that run together come one after the other", async () => {
    const asked = async (text: string): Promise<boolean> => {
      log.push(`?${text}`);
      await sleep(text === "0" ? 10 : 0);
      log.push(`!${text}`);
      return text !== "1";
    };
    await run("look look look", asked);
    expect(log.filter((each) => /[?!]/.test(each)).join(" ")).toBe("?0 !0 ?1 !1 ?2 !2");
    expect(log.filter((each) => each.startsWith("+"))).toEqual(["+0", "+2"]);
  });
});

describe("confirmation", () => {
  const danger = toolOf("danger", async () => ({ text: "done" }), { sideEffects: "execute" });

  test("what runs programs is asked about, with the input; what reads is not", async () => {
    const asked: unknown[] = [];
    const dispatcher = createDispatcher({
      tools: [danger, echo],
      confirm: async ({ toolName, input }) => {
        asked.push([toolName, input]);
        return input["text"] === "please";
      },
    });
    expect(await runOne(dispatcher, "danger", { text: "please" })).toBe("done");
    expect(await runOne(dispatcher, "danger", { text: "now" })).toBe(
      "error: user_denied: the user did not allow this",
    );
    expect(await runOne(dispatcher, "echo", { text: "a" })).toBe("a");
    expect(asked).toEqual([
      ["danger", { text: "please" }],
      ["danger", { text: "now" }],
    ]);
  });

  test("no answer in time, a failing question and a cancelled one are all no", async () => {
    const never = createDispatcher({
      tools: [danger],
      confirm: () => new Promise(() => {}),
      limits: { confirmationMs: 20 },
    });
    expect(await runOne(never, "danger")).toContain("error: confirmation_timeout");
    const failing = createDispatcher({
      tools: [danger],
      confirm: () => {
        throw new Error("no terminal");
      },
    });
    expect(await runOne(failing, "danger")).toContain("error: user_denied");
    const signal = AbortSignal.timeout(5);
    expect(await runOne(never, "danger", {}, { ...context, signal })).toContain("error: cancelled");
  });

  test("the user is not asked about a path outside or input that does not fit", async () => {
    let count = 0;
    const dispatcher = createDispatcher({
      tools: builtInTools(workspace.files),
      workspace: workspace.files,
      confirmed: ["write"],
      confirm: async () => {
        count += 1;
        return true;
      },
    });
    symlinkSync("/etc", join(workspace.root, "link"));
    for (const path of ["../x", "/etc/passwd", "link/passwd"]) {
      expect(await runOne(dispatcher, "write", { path, content: "" })).toContain(
        "error: permission_denied",
      );
    }
    await runOne(dispatcher, "write", { path: "x" });
    expect(count).toBe(0);
    expect(await runOne(dispatcher, "write", { path: "x", content: "" })).toBe("Made x: 0 bytes.");
    expect(count).toBe(1);
  });
});

function sevenUses(): ToolUseBlock[] {
  return Array.from({ length: 7 }, () => useOf("busy"));
}
