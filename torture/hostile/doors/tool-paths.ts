// Tool uses of a hostile model in a real workspace: path tricks, broken JSON, links, pipes and folders.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../../harness/random-message.ts";
import type { Message } from "../../../src/core/message/message.ts";
import { openScope } from "../../../src/edge/files/guard/scoped-files.ts";
import { builtInTools } from "../../../src/edge/tools/built-in-tools.ts";
import { createDispatcher, type Dispatcher } from "../../../src/edge/tools/dispatch/dispatcher.ts";
import { randomUse, type Places } from "../../tools/hostile-inputs.ts";
import type { OpenDoor, Outcome } from "../door.ts";
import { mutateText, oddText } from "../mutate.ts";
import { canaryFile, putOddFile } from "../odd-files.ts";

export function open(folder: string): OpenDoor {
  const workspace = join(folder, "workspace");
  const canary = canaryFile(folder);
  const places: Places = {
    inside: ["file.txt", "a/file.txt", "a", "odd.txt", "new/file.txt", join(workspace, "file.txt")],
    hostile: [
      "odd.txt",
      "odd.txt/secret.txt",
      "../../../canary/secret.txt",
      "../../../canary/new.txt",
      canary,
      ".git/config",
      "\u200b.git/config",
      ".strata/MEMORY.md",
    ],
  };
  let dispatcher: Dispatcher | null = null;
  return {
    reset: async () => {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(join(workspace, "a"), { recursive: true });
      const files = await openScope(workspace);
      const limits = { outputBytesMax: 2000, timeoutMs: 800, graceMs: 100 };
      dispatcher = createDispatcher({ tools: builtInTools(files), workspace: files, limits });
    },
    attempt: (random) => {
      if (random() < 0.5) putOddFile(random, join(workspace, "odd.txt"), "one\ntwo\n", canary);
      if (random() < 0.3) putOddFile(random, join(workspace, "a/file.txt"), "one\ntwo\n", canary);
      if (dispatcher === null) throw new Error("the door was not reset");
      return run(random, dispatcher, places);
    },
  };
}

async function run(random: Random, dispatcher: Dispatcher, places: Places): Promise<Outcome> {
  const { name, inputJson } = randomUse(random, places);
  const json = random() < 0.05 ? mutateText(random, inputJson) : inputJson;
  const use = {
    type: "tool_use",
    id: random() < 0.95 ? "tu_1" : oddText(random),
    name,
    inputJson: json,
  } as const;
  const context = {
    sessionId: "s1",
    turnId: "t1",
    role: "unified" as const,
    signal: new AbortController().signal,
  };
  const messages = await dispatcher.runAll([use], context);
  return judge(messages, use.id);
}

/** Every use has exactly one result. */
function judge(messages: readonly Message[], id: string): Outcome {
  const [block] = messages[0]?.content ?? [];
  if (messages.length !== 1 || block?.type !== "tool_result" || block.toolUseId !== id) {
    throw new TypeError("a use without exactly one result");
  }
  const text = block.content.map((each) => (each.type === "text" ? each.text : "")).join("");
  if (!block.isError) return { isAccepted: true, outputs: [text] };
  const [code, ...words] = text.split(":");
  return { isAccepted: false, outputs: [text], refusals: [{ code, hint: words.join(":") }] };
}
