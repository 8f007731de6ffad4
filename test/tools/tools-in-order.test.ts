// Goal: the tools of one reply do what the model meant by their order. Method: a scripted model on the simulator uses the
// built-in tools in a workspace on disk; results, questions, events and the parts of the turn are looked at.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HostOptions } from "../../src/host/open-host.ts";
import type { ConfirmationRequest } from "../../src/edge/tools/dispatch/confirmation.ts";
import { createScripted } from "../../src/simulator/index.ts";
import {
  eventsOf,
  makePlace,
  plantedKey,
  readAll,
  serve,
  start,
  type Started,
} from "../engine/test-kit.ts";

interface Call {
  readonly name: string;
  readonly input: unknown;
}

interface Used {
  readonly started: Started;
  readonly workspace: string;
  /** Each result as the model reads it: `failed` before one that is an error. */
  readonly results: readonly string[];
  readonly statuses: readonly string[];
}

async function use(toolCalls: readonly Call[], more: Partial<HostOptions> = {}): Promise<Used> {
  const place = makePlace();
  const steps = [{ text: "At work.", toolCalls }, { text: "Done." }];
  const { url } = await serve({ model: createScripted(steps) });
  place.put("a.txt", "old\n");
  place.configure(
    `models: { default: claude-haiku-4-5 }
tools: { toolset: full, bash: true }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  const started = await start(place, { confirm: () => Promise.resolve(true), ...more });
  const session = await started.engine.session("s");
  const handle = session.run("Go on.");
  const statuses: string[] = [];
  for await (const part of handle) {
    if (part.type === "tool" && part.status !== "asked") {
      statuses.push(`${part.name} ${part.status}`);
    }
  }
  const { calls } = await handle.result;
  const results = (calls.at(-1)?.sent ?? []).flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.type !== "tool_result") return [];
      const [first] = block.content;
      return [`${block.isError ? "failed " : ""}${first?.type === "text" ? first.text : ""}`];
    }),
  );
  return { started, workspace: place.workspace, results, statuses };
}

const bash = (command: string): Call => ({ name: "bash", input: { command } });
const read: Call = { name: "read", input: { path: "a.txt" } };

test("what a command sees is what the uses before it left behind", async () => {
  const { results, workspace } = await use([
    bash("sleep 0.05; echo first >> a.txt"),
    { name: "edit", input: { path: "a.txt", old: "first", new: "second" } },
    bash("cat a.txt"),
    { name: "write", input: { path: "a.txt", content: "third\n" } },
    read,
  ]);
  expect(results[1]).toBe("Replaced 1 occurrence in a.txt.");
  expect(results[2]).toBe("old\nsecond\n[exit status 0]");
  expect(results[4]).toContain("third");
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("third\n");
});

test("questions come in the order of the reply, each after the uses before it ended", async () => {
  const seen: string[] = [];
  const confirm = async ({ input }: ConfirmationRequest): Promise<boolean> => {
    seen.push(`asked: ${String(input["command"])}`);
    return input["command"] !== "echo no > a.txt";
  };
  const { results } = await use([bash("cat a.txt"), bash("echo no > a.txt"), bash("cat a.txt")], {
    confirm,
    onSettled: ({ failure }) => void seen.push(failure === null ? "done" : failure.errorClass),
  });
  expect(seen).toEqual([
    "asked: cat a.txt",
    "done",
    "asked: echo no > a.txt",
    "user_denied",
    "asked: cat a.txt",
    "done",
  ]);
  expect(results[2]).toBe("old\n[exit status 0]");
});

test("a command with another exit status than 0 has failed: for the model, in the parts and in the trace", async () => {
  const { started, results, statuses } = await use([
    bash("echo oops >&2; exit 3"),
    bash("kill -9 $$"),
    bash("true"),
  ]);
  expect(results).toEqual([
    "failed oops\n[failed: exit status 3]",
    "failed [failed: ended by SIGKILL]",
    "[exit status 0]",
  ]);
  // Commands run one after the other, and each is shown as over before the next one begins.
  expect(statuses.slice(-6)).toEqual([
    "bash running",
    "bash failed",
    "bash running",
    "bash failed",
    "bash running",
    "bash succeeded",
  ]);
  const completed = (await eventsOf(started, "s")).filter(({ type }) => type === "tool.completed");
  expect(completed.map(({ payload }) => payload)).toMatchObject([
    { success: false, command_executed: "echo oops >&2; exit 3" },
    { success: false },
    { success: true },
  ]);
  const [turn] = await readAll(started.ledger.readTurns({ sessionId: "s" }));
  const recorded = await started.ledger.readToolCalls(turn?.id ?? "");
  expect(recorded.map(({ status }) => status)).toEqual(["failed", "failed", "succeeded"]);
});
