// Goal: an image that a message names reaches the provider. Method: the bytes of the request as the provider's server got them, from the simulator behind it.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { plantedKey } from "../../harness/planted-key.ts";
import { createScripted, createSimulator } from "../../src/simulator/index.ts";
import { openChatKit, type ChatKit } from "./chat-kit.ts";

let kit: ChatKit;

beforeEach(async () => {
  kit = await openChatKit();
});

afterEach(() => kit.close());

/** One pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A server that keeps what it is sent and lets the simulator answer. */
async function openProvider(): Promise<{ readonly url: string; readonly bodies: string[] }> {
  const simulator = createSimulator({ model: createScripted([{ text: "A dot." }]) });
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then(async (bytes) => {
      bodies.push(bytes.toString());
      const answer = await simulator.fetch(`http://127.0.0.1${request.url ?? ""}`, {
        method: request.method ?? "POST",
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        body: bytes,
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

test("an image that is named by its path is in the request, before the words", async () => {
  const { url, bodies } = await openProvider();
  kit.env["ANTHROPIC_API_KEY"] = plantedKey;
  kit.env["ANTHROPIC_BASE_URL"] = url;
  const path = join(kit.folder, "dot.png");
  await writeFile(path, png);
  const { out, status } = await kit.chat({
    words: ["--workspace", kit.folder, "--model", "claude-sonnet-5-5"],
    lines: [`what is in @${path} ?`],
  });
  expect(status).toBe(0);
  expect(out).toContain("A dot.");
  const { messages } = JSON.parse(bodies.at(-1) ?? "{}") as {
    messages: { content: { type: string }[] }[];
  };
  const content = messages[0]?.content ?? [];
  expect(content.slice(0, 2)).toMatchObject([
    {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: png.toString("base64") },
    },
    { type: "text", text: `what is in @${path} ?` },
  ]);
});

test("a model without images says so, and the words are sent alone", async () => {
  const { url, bodies } = await openProvider();
  kit.env["OPENAI_API_KEY"] = plantedKey;
  kit.env["OPENAI_BASE_URL"] = `${url}/v1`;
  await writeFile(join(kit.folder, "dot.png"), png);
  const { out, error } = await kit.chat({
    words: ["--workspace", kit.folder, "--model", "o3-mini"],
    lines: ["what is in @dot.png ?"],
  });
  expect(out + error).toContain(
    "dot.png is not sent: o3-mini takes no images of the type image/png",
  );
  expect(bodies).toHaveLength(1);
  expect(bodies[0]).toContain("what is in @dot.png ?");
  expect(bodies[0]).not.toContain(png.toString("base64"));
});
