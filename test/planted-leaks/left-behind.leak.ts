// Leaves things behind in its process, on purpose.
import { createServer } from "node:net";
import { expect, test } from "vitest";

test("a variable, a folder, a global and a server", async () => {
  process.env["LEFT_BEHIND"] = "1";
  process.chdir("test");
  Math.random = () => 0.5;
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  expect(server.listening).toBe(true);
});
