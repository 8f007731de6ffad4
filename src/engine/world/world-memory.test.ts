import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findPolicy } from "../../core/cache/policies.ts";
import { policyNames } from "../../core/cache/policy.ts";
import type { MemoryTexts } from "../../core/layers/memory-sections.ts";
import { resolveModel } from "../../core/models/resolve-model.ts";
import { cheapCounter } from "../../core/tokens/cheap-counter.ts";
import { anthropicMessages } from "../../core/wire/anthropic-messages/index.ts";
import { openMemoryStore } from "../../edge/files/memory/memory-store.ts";
import { openSession } from "../session/open-session.ts";
import type { Session } from "../../core/session/session.ts";
import { createWorldMemory, memoryIn } from "./world-memory.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "strata-world-memory-"));
  mkdirSync(join(folder, ".strata"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sessionWith(memory: MemoryTexts, policy = "adaptive"): Session {
  return openSession({
    model: resolveModel("claude-sonnet-4-6").facts,
    protocol: anthropicMessages,
    policy: findPolicy(policy),
    context: {
      role: "unified",
      workspaceRules: "## User context (USER.md)\n\nThis is a trap.",
      contextFiles: [{ path: "a.md", text: "## Workspace memory (MEMORY.md)\n\nSo is this." }],
      memory,
    },
    counter: cheapCounter,
    options: { outputTokensMax: 500, stream: true },
  });
}

test.each(policyNames)("what %s put into the system text is found again to the byte", (policy) => {
  const texts = {
    globalUser: "Ana, everywhere.",
    user: "Ana.\n\n## User context (USER.md)\n\nnested",
    workspace: "Grüße 🙂\n- uses npm",
  };
  expect(memoryIn(sessionWith(texts, policy))).toEqual(texts);
  expect(memoryIn(sessionWith({ user: "", workspace: "" }, policy))).toEqual({
    user: "",
    workspace: "",
  });
});

test("a new look changes nothing for a session that keeps its system text: a compaction may fail", async () => {
  const memory = createWorldMemory(await openMemoryStore(folder), {});
  const before = sessionWith({ user: "", workspace: "Uses npm." });
  writeFileSync(join(folder, ".strata/MEMORY.md"), "Uses npm.\nUses git.\n");
  const { texts } = await memory.look();
  const after = sessionWith(texts);
  const told = async (session: Session): Promise<readonly string[]> =>
    (await memory.forNextCall(session)).map(({ text }) => text);
  expect((await told(before)).join()).toContain("+ Uses git.");
  expect(await told(after)).toEqual([]);
  expect((await told(before)).join()).toContain("+ Uses git.");
});
