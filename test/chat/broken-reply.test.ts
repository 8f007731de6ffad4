// Goal: a reply that breaks off is reported, and the chat continues. Method: the command on a simulator over
// loopback that cuts its first stream, and on SQLite in a temporary folder.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { chatCommand } from "../../src/cli/chat/chat-command.ts";
import { openChat } from "../../src/cli/chat/open-chat.ts";
import { runChat } from "../../src/cli/chat/run-chat.ts";
import { parseInput } from "../../src/cli/command.ts";
import { createTestIo } from "../../src/cli/test-kit.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";

async function* typed(): AsyncGenerator<string> {
  yield* ["first", "second"];
}

test("a reply that breaks off is shown as far as it arrived, and the next turn is answered", async () => {
  const folder = await mkdtemp(join(tmpdir(), "strata-broken-"));
  const simulator = createSimulator({
    model: createScripted([{ text: "Some words that come. ".repeat(20) }, { text: "Whole." }]),
    faults: [{ kind: "cut", afterEvents: 6 }],
  });
  const server = await simulator.listen({ port: 0 });
  const { io, said } = createTestIo({
    HOME: folder,
    STRATA_DATA_DIR: folder,
    ANTHROPIC_API_KEY: plantedKey,
    ANTHROPIC_BASE_URL: server.url,
  });
  const input = parseInput(chatCommand, ["--workspace", folder]);
  const deps = {
    open: (asks: Parameters<typeof openChat>[3]) => openChat(input, io, "refuse", asks),
    permission: "refuse",
    terminal: null,
    lines: typed(),
    colours: false,
    showsStatus: true,
  } as const;
  const options = { prompt: null, isJson: false, isAllowed: false, model: null };
  try {
    expect(await runChat(options, deps, io)).toBe(0);
    expect(said.out).toMatch(
      /^> first\n\nSome words[\s\S]*\nThe reply broke off \(unreachable\): .*\n {2}check the network .* send it again\n/,
    );
    expect(said.out).toMatch(/\n> second\n\nWhole\.\n\n\d.* of 1\.0M .*\n$/);
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
