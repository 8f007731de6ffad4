// Random messages as JSON *text*, with everything that JSON.parse loses or mishandles.

/** Numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

/** A small seeded generator (mulberry32): good enough to explore, and repeatable. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** One message as a client could write it: any key order, white space and spelling. */
export function randomMessageText(random: Random): string {
  const role = pick(random, ["user", "assistant", "system", "tool"]);
  const content =
    random() < 0.1
      ? randomString(random)
      : array(
          random,
          () => randomBlockText(random, role),
          random() < 0.02 ? 0 : 1,
          role === "tool" ? 1 : 4,
        );
  return object(random, [
    ...(random() < 0.05 ? [["role", '"user"'] as const, ["content", '"first"'] as const] : []),
    ["role", `"${role}"`],
    ["content", content],
    ...(random() < 0.1 ? [randomMember(random)] : []),
  ]);
}

function randomBlockText(random: Random, role: string): string {
  const kinds: Record<string, readonly string[]> = {
    user: ["text", "text", "image", "document", "unknown"],
    assistant: ["text", "tool_use", "tool_use", "thinking", "redacted_thinking", "compaction"],
    system: ["text"],
    tool: ["tool_result"],
  };
  return object(random, [
    ...(random() < 0.05 ? [["type", '"text"'] as const, ["text", '"first"'] as const] : []),
    ...blockMembers(random, pick(random, kinds[role] ?? ["text"])),
    ...(random() < 0.1 ? [randomMember(random)] : []),
    ...(random() < 0.1 ? [["cache_control", '{"type":"ephemeral"}'] as const] : []),
  ]);
}

type MemberText = readonly [key: string, value: string];

function blockMembers(random: Random, type: string): MemberText[] {
  const id = `"toolu_${Math.floor(random() * 1e9)}"`;
  const members: Record<string, () => MemberText[]> = {
    text: () => [["text", randomString(random)]],
    image: () => [["source", randomSource(random)]],
    document: () => [
      ["source", randomSource(random)],
      ["title", randomString(random)],
    ],
    tool_use: () => [
      ["id", id],
      ["name", pick(random, ['"Read"', '"mcp__x__y"', '"run_tests"'])],
      [
        "input",
        object(
          random,
          many(random, () => randomMember(random), 0, 5),
        ),
      ],
    ],
    tool_result: () => [
      ["tool_use_id", id],
      [
        "content",
        random() < 0.3
          ? randomString(random)
          : array(random, () => randomBlockText(random, "user"), 0, 3),
      ],
      ...(random() < 0.3 ? [["is_error", pick(random, ["true", "false"])] as const] : []),
    ],
    thinking: () => [
      ["thinking", randomString(random)],
      ["signature", '"sig=="'],
    ],
    redacted_thinking: () => [["data", randomString(random)]],
    compaction: () => [["content", random() < 0.2 ? "null" : randomString(random)]],
    unknown: () => [["payload", randomValue(random, 0)]],
  };
  return [["type", `"${type}"`], ...(members[type]?.() ?? [])];
}

function randomSource(random: Random): string {
  const sources: readonly (readonly MemberText[])[] = [
    [
      ["type", '"base64"'],
      ["media_type", '"image/png"'],
      ["data", '"iVBORw0KGgo="'],
    ],
    [
      ["type", '"text"'],
      ["media_type", '"text/plain"'],
      ["data", randomString(random)],
    ],
    [
      ["type", '"url"'],
      ["url", '"https:\\/\\/example.test\\/a.png"'],
    ],
    [
      ["type", '"file"'],
      ["file_id", '"file_1"'],
    ],
    [
      ["type", '"content"'],
      ["content", "[]"],
    ],
  ];
  return object(random, pick(random, sources));
}

function randomMember(random: Random): MemberText {
  // Raw key text between the quotes: integer-like, inherited names, escapes, and intentional duplicates.
  const keys = ["2", "10", "1", "a", "a", "__proto__", "constructor", "\\u0061", "key\\n", "é", ""];
  return [pick(random, keys), randomValue(random, 0)];
}

function randomValue(random: Random, depth: number): string {
  const kind = random();
  if (depth < 4 && kind < 0.15) {
    const members = (): MemberText => [randomMember(random)[0], randomValue(random, depth + 1)];
    return object(random, many(random, members, 0, 4));
  }
  if (depth < 4 && kind < 0.3) return array(random, () => randomValue(random, depth + 1), 0, 4);
  if (kind < 0.6) {
    return pick(random, [
      "1.0",
      "1e3",
      "-0",
      "0.1",
      "1E+2",
      "12345678901234567890",
      "-99999999999999999999",
      "1.7976931348623157e309",
    ]);
  }
  return kind < 0.75 ? pick(random, ["true", "false", "null"]) : randomString(random);
}

function randomString(random: Random): string {
  const parts = [
    "plain text",
    " ",
    "\\n",
    "\\u0041",
    "\\/",
    '\\"',
    "\\\\",
    "\\ud800",
    "\\udc00x",
    "\\ud83d\\ude00",
    "😀",
    "日本語",
    "é",
    "{",
    "]",
    ",",
    ":",
    "\u2028",
    "<|endoftext|>",
    "\ufeff",
    "\u007f",
  ];
  return `"${many(random, () => pick(random, parts), 0, 12).join("")}"`;
}

function object(random: Random, members: readonly MemberText[]): string {
  const shuffled = random() < 0.3 ? members.toSorted(() => random() - 0.5) : members;
  const texts = shuffled.map(([key, value]) => `"${key}"${space(random)}:${space(random)}${value}`);
  return `{${space(random)}${texts.join(`${space(random)},${space(random)}`)}${space(random)}}`;
}

function array(random: Random, item: () => string, least: number, most: number): string {
  return `[${space(random)}${many(random, item, least, most).join(`,${space(random)}`)}]`;
}

function space(random: Random): string {
  return random() < 0.95 ? "" : pick(random, [" ", "\n", "\t", "\r\n  "]);
}

function many<T>(random: Random, item: () => T, least: number, most: number): T[] {
  return Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, item);
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}
