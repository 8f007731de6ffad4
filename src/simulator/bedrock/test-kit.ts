// For tests: a client of the Bedrock surface that reads frames with AWS's own code, and an echoing model.
import { EventStreamCodec } from "@smithy/core/event-streams";
import { createSurfaceKit, type Any, type SurfaceKit } from "../test-kit.ts";
import { echo } from "../anthropic/test-kit.ts";
import { createBedrockSurface } from "./index.ts";

export type { Any } from "../test-kit.ts";
export { words } from "../anthropic/test-kit.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, if it is JSON. */
  readonly body: Any;
  readonly text: string;
  readonly frames: readonly Frame[];
}

export interface Frame {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Any;
}

export interface Kit extends SurfaceKit {
  /** The id in the path, as a client names it. */
  model: string;
  /** Sends to an operation and reads to the end. */
  readonly post: (operation: string, body: unknown) => Answer;
  readonly converse: (body: unknown) => Answer;
}

export function createKit(): Kit {
  const kit: Kit = Object.assign(createSurfaceKit(createBedrockSurface(), echo), {
    model: "us.anthropic.claude-sonnet-5-5",
    converse: (body: unknown) => kit.post("converse", body),
    post: (operation: string, sent: unknown) => {
      const path = `/model/${encodeURIComponent(kit.model)}/${operation}`;
      const bodyText = typeof sent === "string" ? sent : JSON.stringify(sent);
      const { status, headers, body, bill } = kit.handle({ path, bodyText });
      bill?.begin();
      const text = typeof body === "string" ? body : "";
      const frames = typeof body === "string" ? [] : [...body].map(readFrame);
      bill?.end(kit.nowMs);
      return { status, headers, text, frames, body: text === "" ? null : JSON.parse(text) };
    },
  });
  return kit;
}

const codec = new EventStreamCodec(
  (bytes) => toUtf8(bytes),
  (text) => Buffer.from(text),
);

function toUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function readFrame(piece: string | Uint8Array): Frame {
  const { headers, body } = codec.decode(Buffer.from(piece));
  const values = Object.entries(headers).map(([name, { value }]) => [name, value] as const);
  return { headers: Object.fromEntries(values), body: JSON.parse(Buffer.from(body).toString()) };
}

export const point = { cachePoint: { type: "default" } } as const;
export const point1h = { cachePoint: { type: "default", ttl: "1h" } } as const;

export function said(text: string, ...more: readonly object[]): Any {
  return { role: "user", content: [{ text }, ...more] };
}

export function tool(name: string): Any {
  return {
    toolSpec: {
      name,
      description: `The tool ${name}.`,
      inputSchema: { json: { type: "object", properties: { path: { type: "string" } } } },
    },
  };
}

export interface Buckets {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly input: number;
}

export function buckets({ body, text }: Answer): Buckets {
  const usage = body?.usage;
  if (usage === undefined) throw new Error(text);
  const written = (ttl: string): number =>
    usage.cacheDetails.find((each: Any) => each.ttl === ttl)?.inputTokens ?? 0;
  return {
    read: usage.cacheReadInputTokens,
    write5m: written("5m"),
    write1h: written("1h"),
    input: usage.inputTokens,
  };
}
