// Goal: whether preloaded skills were worth their place can be answered. Method: an agent asks for one of two skills that
// are in its prompt from the start; the ledger is asked by the command.
import { join } from "node:path";
import { expect, test } from "vitest";
import { strata } from "../../src/cli/test-kit.ts";
import { createScripted } from "../../src/simulator/index.ts";
import { makePlace, plantedKey, serve, start } from "../engine/test-kit.ts";

test("the share of preloaded skills that were ever asked for is told, per skill and in sum", async () => {
  const place = makePlace();
  const model = createScripted([
    { text: "I look it up.", toolCalls: [{ name: "skill_load", input: { name: "mail" } }] },
    { text: "Done." },
  ]);
  const { url } = await serve({ model });
  for (const name of ["mail", "pdf"]) {
    place.put(
      `.strata/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: About ${name}.\n---\nAsk before you send.\n`,
    );
  }
  place.configure(
    `models: { default: claude-sonnet-4-6 }
policies: { layout: { padding: always } }
providers: { anthropic: { base_url: "${url}", api_key: ${plantedKey} } }`,
  );
  const host = await start(place);
  const session = await host.engine.session("s");
  expect(session.session.preactivated.map(({ name }) => name)).toEqual(["mail", "pdf"]);
  const { toolCalls } = await session.run("Send it.").result;
  expect(toolCalls).toMatchObject([{ name: "skill_load", status: "succeeded" }]);
  await host.events.flush();
  const typed = ["stats", "skills", "--store", join(place.folder, "ledger.db")];
  const { data } = JSON.parse((await strata({}, ...typed, "--json", "--order", "group")).out);
  expect(data).toMatchObject([
    { skill: "mail", preload_count: 1, asked_preload_count: 1, asked_preload_share: 1 },
    { skill: "pdf", preload_count: 1, asked_preload_count: 0, asked_preload_share: 0 },
  ]);
  const all = await strata({}, ...typed, "--group-by", "none", "--json");
  expect(JSON.parse(all.out).data).toMatchObject([
    { preload_count: 2, asked_preload_count: 1, asked_preload_share: 0.5 },
  ]);
  expect((await strata({}, ...typed)).out).toMatch(/preloads +asked preload share/);
});
