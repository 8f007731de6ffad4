// Goal: the list of models as clients read it.
import { expect, test } from "vitest";
import { createClient } from "./test-kit.ts";

test("models are listed page by page, without prices", () => {
  const client = createClient();
  const { body } = client.call("GET", "/v1/models", "", "limit=2");
  expect(body).toMatchObject({ has_more: true, first_id: "claude-fable-5-2" });
  expect(body.data).toHaveLength(2);
  expect(body.data[0]).toMatchObject({
    type: "model",
    id: "claude-fable-5-2",
    display_name: "Claude Fable 5.2",
    created_at: "2026-11-09T00:00:00Z",
    lifecycle: "active",
    line: "fable",
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: { thinking: { types: { enabled: { supported: false } } } },
  });
  expect(JSON.stringify(body)).not.toContain("price");
  const next = client.call("GET", "/v1/models", "", `limit=1000&after_id=${body.last_id}`).body;
  expect(next.has_more).toBe(false);
  const back = client.call("GET", "/v1/models", "", `limit=2&before_id=${next.first_id}`).body;
  expect(back.data).toEqual(body.data);
});

test("one model is shown by its id and by its aliases", () => {
  const client = createClient();
  expect(client.call("GET", "/v1/models/claude-haiku-4-5-20251001", "").body).toMatchObject({
    id: "claude-haiku-4-5",
    display_name: "Claude Haiku 4.5",
    lifecycle: "deprecated",
  });
});

test("an impossible page is refused", () => {
  expect(createClient().call("GET", "/v1/models", "", "limit=0").status).toBe(400);
});
