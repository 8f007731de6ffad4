// One simulated client: it keeps its messages, marks them as its program would, and sends them through the gateway.
import { request } from "undici";
import { fieldsOf } from "../../../core/message/fields.ts";

export interface DemoTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: object;
}

type Block = Readonly<Record<string, unknown>>;

export interface DemoMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
}

/** What of a request an agent may change between two calls. */
export interface DemoPrompt {
  model: string;
  system: string;
  tools: readonly DemoTool[];
  messages: DemoMessage[];
  /** Members beside the usual ones, such as `tool_choice`. */
  more: Readonly<Record<string, unknown>>;
  headers: Readonly<Record<string, string>>;
  lifetime: "5m" | "1h";
  /** Whether its program marks anything. */
  isMarking: boolean;
}

export interface DemoClient {
  readonly prompt: DemoPrompt;
  /** One call; the reply is added to the messages. */
  call(): Promise<void>;
}

export function createDemoClient(url: string, prompt: DemoPrompt): DemoClient {
  return {
    prompt,
    call: async () => {
      const { statusCode, body } = await request(`${url}/anthropic/v1/messages`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": "demo",
          "anthropic-version": "2023-06-01",
          ...prompt.headers,
        },
        body: JSON.stringify(toBody(prompt)),
      });
      const answer: unknown = await body.json();
      // A refusal is part of the day: the agent goes on with its next call.
      if (statusCode !== 200) return;
      const { content } = fieldsOf(answer);
      if (Array.isArray(content) && content.length > 0) {
        prompt.messages.push({ role: "assistant", content });
      }
    },
  };
}

function toBody({ model, system, tools, messages, more, lifetime, isMarking }: DemoPrompt): object {
  const cacheControl = isMarking ? { cache_control: { type: "ephemeral", ttl: lifetime } } : {};
  return {
    model,
    max_tokens: 400,
    ...(tools.length === 0 ? {} : { tools }),
    system: [{ type: "text", text: system, ...cacheControl }],
    messages: messages.map(({ role, content }, index) => ({
      role,
      content: content.map((block, at) =>
        index === messages.length - 1 && at === content.length - 1
          ? { ...block, ...cacheControl }
          : block,
      ),
    })),
    ...more,
  };
}

/** What the user says, or the results that the last reply asked for. */
export function say(prompt: DemoPrompt, text: string): void {
  const results = toolUses(prompt.messages.at(-1)).map((id) => ({
    type: "tool_result",
    tool_use_id: id,
    content: text,
  }));
  const content = results.length > 0 ? results : [{ type: "text", text }];
  prompt.messages.push({ role: "user", content });
}

function toolUses(message: DemoMessage | undefined): readonly string[] {
  if (message?.role !== "assistant") return [];
  return message.content.flatMap(({ type, id }) =>
    type === "tool_use" && typeof id === "string" ? [id] : [],
  );
}
