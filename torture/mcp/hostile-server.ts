// An MCP server on standard input and output that breaks every rule it can, by chance: node hostile-server.ts SEED
import { createInterface } from "node:readline";
import { createRandom } from "../../harness/random-message.ts";
import { fieldsOf, parseFields, type Fields } from "../../src/core/message/fields.ts";

const random = createRandom(Number(process.argv[2] ?? 1));
let version = 0;

function send(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Another list with each version: schemas, order, words and a tool more. */
function listTools(): readonly object[] {
  const property = {
    type: "string",
    pattern: "^(a+)+$",
    description: `version ${version}`,
  };
  const tools = [
    "steady",
    "wild",
    "__proto__",
    "a name with spaces and ünicode",
    "x".repeat(90),
  ].map((name) => ({
    name,
    description: name === "wild" ? "w".repeat(5000) : `does ${name} ${version}`,
    inputSchema: {
      type: "object",
      $schema: "https://json-schema.org/draft/2020-12/schema",
      properties: { how: property, self: { $ref: "#/properties/self" } },
      ...(name === "wild" ? { anyOf: [{ required: ["how"] }, { required: ["self"] }] } : {}),
    },
    outputSchema: { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } },
    annotations: { readOnlyHint: true },
  }));
  if (version % 2 === 1) tools.reverse();
  return version === 0 ? tools : [...tools, { ...tools[0], name: `late_${version}` }];
}

const text = (given: string): object => ({ content: [{ type: "text", text: given }] });

/** Each is an answer to a call, or none. */
const tricks: readonly ((id: unknown) => void)[] = [
  (id) => send({ jsonrpc: "2.0", id, result: text("fine") }),
  (id) => send({ jsonrpc: "2.0", id, result: text("x".repeat(4_000_000)) }),
  (id) => send({ jsonrpc: "2.0", id, result: { content: "no list" } }),
  (id) => send({ jsonrpc: "2.0", id, result: { content: [{ type: "strange" }, null, 5] } }),
  (id) =>
    send({
      jsonrpc: "2.0",
      id,
      result: { ...text(""), structuredContent: { a: `${"a".repeat(40)}!` } },
    }),
  (id) => send({ jsonrpc: "2.0", id, result: { ...text("it failed"), isError: true } }),
  (id) => send({ jsonrpc: "2.0", id, error: { code: -32_603, message: "e".repeat(50_000) } }),
  (id) => send({ jsonrpc: "2.0", id, error: "no error object" }),
  (id) => send({ jsonrpc: "1.0", id, result: text("wrong version") }),
  (id) => send({ id, result: text("no version") }),
  () => send({ jsonrpc: "2.0", id: "someone else's", result: text("wrong id") }),
  (id) => send({ jsonrpc: "2.0", id, result: text("both"), error: { code: 1, message: "both" } }),
  () => {},
  (id) => void setTimeout(() => send({ jsonrpc: "2.0", id, result: text("late") }), 400),
  (id) => {
    process.stdout.write('not JSON\n\n{"half": \n\u0000\u0001\n');
    send({ jsonrpc: "2.0", id, result: text("after noise") });
  },
  (id) => {
    for (let count = 0; count < 200; count += 1) {
      send({
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "info", data: "x" },
      });
    }
    send({ jsonrpc: "2.0", id, result: text("after a flood") });
  },
  (id) => {
    version += 1;
    send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    send({ jsonrpc: "2.0", id, result: text("I have other tools now") });
  },
  (id) => {
    send({
      jsonrpc: "2.0",
      id: 1,
      method: "sampling/createMessage",
      params: { messages: [], maxTokens: 1 },
    });
    send({ jsonrpc: "2.0", id: 2, method: "roots/list" });
    send({ jsonrpc: "2.0", id, result: text("after asking you") });
  },
];
/** These end the connection, so they are rare. */
const ends: readonly (() => void)[] = [
  () => process.exit(1),
  () => void process.stdout.write("y".repeat(11 * 1024 * 1024)),
];

function answer({ method, id, params }: Fields): void {
  if (method === "initialize") {
    const protocolVersion = fieldsOf(params)["protocolVersion"] ?? "2025-06-18";
    const capabilities = { tools: { listChanged: true } };
    const serverInfo = { name: "hostile", version: "1" };
    return send({ jsonrpc: "2.0", id, result: { protocolVersion, capabilities, serverInfo } });
  }
  if (method === "tools/list") return send({ jsonrpc: "2.0", id, result: { tools: listTools() } });
  if (method === "tools/call") {
    if (random() < 0.004) return ends[Math.floor(random() * ends.length)]?.();
    // Half of them are fine, so that there is something to compare with.
    const trick = random() < 0.5 ? 0 : Math.floor(random() * tricks.length);
    return tricks[trick]?.(id);
  }
  if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code: -32_601, message: "no" } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = parseFields(line);
  if (message !== undefined) answer(message);
});
