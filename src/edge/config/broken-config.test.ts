// Goal: whatever is in a configuration, it is read or refused with a code and a hint. Method: valid files with random damage,
// and random text, each as the user's own file and as a found one.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { StrataError } from "../../core/strata-error.ts";
import { loadConfig } from "./load-config.ts";
import { openConfig } from "./open-config.ts";

let path = "";
beforeAll(() => {
  path = join(mkdtempSync(join(tmpdir(), "strata-broken-")), "strata.yaml");
});
afterAll(() => rmSync(join(path, ".."), { recursive: true }));

const valid = `models: { default: claude-sonnet-5-5, aliases: { fast: claude-haiku-4-5 } }
providers:
  garage: { kind: openai-compatible, base_url: http://localhost:8000/v1, headers: { x-a: b } }
routing:
  patterns: [{ match: "^/deep", model: fast }]
  rules: [{ when: { has_images: true }, model: fast }]
ledger: { store: postgres://ana:pw@h/d, lease_seconds: 30 }
agents: [{ id: ana, policy: tail-1h }]
tools: { confirm: [write], limits: { timeout_ms: 5 } }
`;

const damage = fc.tuple(
  fc.nat(valid.length),
  fc.nat(12),
  fc.oneof(
    fc.string({ maxLength: 8 }),
    fc.constantFrom("{", "[", ":", "\n", "- ", "&a ", "*a", "~", "0x1", "\t", "'"),
  ),
);
const texts = fc.oneof(
  fc
    .array(damage, { minLength: 1, maxLength: 4 })
    .map((all) =>
      all.reduce(
        (text, [at, length, by]) => text.slice(0, at) + by + text.slice(at + length),
        valid,
      ),
    ),
  fc.string({ unit: "grapheme", maxLength: 200 }),
);

test("a broken configuration is refused with a code, a place and a hint", async () => {
  await fc.assert(
    fc.asyncProperty(texts, fc.boolean(), async (text, isFound) => {
      writeFileSync(path, text);
      const files = [{ path, isFound, isNamed: true }];
      const { config, problems } = await loadConfig({ files, env: {} });
      for (const { message, hint } of problems) {
        expect(message.trim()).not.toBe("");
        expect(hint.trim()).not.toBe("");
      }
      if (config !== null) return;
      const error: unknown = await openConfig({ files, env: {} }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(StrataError);
      expect(error).toMatchObject({ code: "config-invalid", hint: expect.stringMatching(/\S/) });
    }),
    { numRuns: 80 },
  );
});
