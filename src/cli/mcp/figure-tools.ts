// strata_cost, strata_explain_last_miss and strata_context: questions of an agent about its own bill, in few words.
import type { ApiClient } from "../../api/client/open-client.ts";
import { ofStrata, ToolError, type Tool, type ToolInput } from "../../core/tools/tool.ts";
import { toObjectDefinition } from "../../edge/tools/scoped-tool.ts";
import { formatCount, formatPercent } from "../../replay/format-figures.ts";
import { answerOf, findSession, sessionSchema } from "./find-session.ts";

export function figureTools(client: ApiClient): readonly Tool[] {
  return [costTool(client), missTool(client), contextTool(client)].map(ofStrata);
}

const groups = ["none", "session", "agent", "model", "day"] as const;

const rowsMax = 20;

function costTool(client: ApiClient): Tool {
  return {
    definition: toObjectDefinition(
      "strata_cost",
      "What calls to models cost, and how much of their prompts was read from the cache.",
      {
        from: {
          type: "string",
          description: "A day (2026-11-09) or an age (24h, 30d); default: 7d.",
        },
        group_by: { type: "string", enum: groups, description: "Default: none." },
      },
      [],
    ),
    needs: [],
    sideEffects: "read",
    run: async (input) => {
      const group = groups.find((each) => each === input["group_by"]) ?? "none";
      const { from = "7d" } = input;
      const query = { from: String(from), group_by: group, limit: rowsMax } as const;
      const {
        window,
        data,
        left_out_count: left,
        notes,
      } = await answerOf(client.ask("cost", { query }));
      const rows = data.map((row) => {
        const name = group === "none" ? "in all" : (row[group] ?? "(none)");
        const read =
          row.hit_rate === null ? "" : `, ${formatPercent(row.hit_rate)} read from cache`;
        const unpriced =
          row.unpriced_call_count === 0
            ? ""
            : `, and ${formatCount(row.unpriced_call_count, "call")} without a known price`;
        const calls = formatCount(row.call_count, "call");
        return `${name}: $${row.cost_usd}, ${calls}${read}${unpriced}`;
      });
      const more = left === 0 ? [] : [`${left} more rows are left out; ask for a shorter time`];
      const none = rows.length === 0 ? ["no calls in this time"] : rows;
      const between = `from ${window.start} to ${window.end}`;
      return { text: [between, ...none, ...more, ...notes].join("\n") };
    },
  };
}

function missTool(client: ApiClient): Tool {
  return {
    definition: toObjectDefinition(
      "strata_explain_last_miss",
      "Why the last cache miss happened, what it cost, and what would have avoided it.",
      { session: sessionSchema },
      [],
    ),
    needs: [],
    sideEffects: "read",
    run: async ({ session: wanted }: ToolInput) => {
      const session = wanted === undefined ? null : (await findSession(client, wanted)).session;
      const query = { from: "1970-01-01", limit: 1, ...(session === null ? {} : { session }) };
      const { data } = await answerOf(client.ask("miss_list", { query }));
      const [miss] = data;
      if (miss === undefined) {
        const where = session === null ? "" : ` in ${session}`;
        return { text: `no miss is recorded${where}` };
      }
      const where = [miss.section, miss.tier === null ? null : `tier ${miss.tier}`]
        .filter((each) => each !== null)
        .join(", ");
      const cost = miss.lost_cost_usd === null ? "" : `, $${miss.lost_cost_usd} more than a read`;
      const expected = miss.expected_read_tokens;
      return {
        text: [
          `${miss.cause}${miss.detail === null ? "" : ` (${miss.detail})`}, ${miss.at}, session ${miss.session}`,
          ...(where === "" ? [] : [`where: ${where}`]),
          `lost: ${miss.lost_tokens} of ${expected} tokens that could have been read${cost}`,
          `advice: ${miss.advice}`,
        ].join("\n"),
      };
    },
  };
}

function contextTool(client: ApiClient): Tool {
  return {
    definition: toObjectDefinition(
      "strata_context",
      "What fills the context window of a session, what it has cost, and until when its cache is warm.",
      { session: sessionSchema },
      [],
    ),
    needs: [],
    sideEffects: "read",
    run: async ({ session: wanted }: ToolInput) => {
      const { session } = await findSession(client, wanted);
      const { data } = await answerOf(client.ask("session", { path: { session } }));
      const { latest_call: latest, window_tokens: window } = data;
      if (latest === null) throw new ToolError("not_found", `${session} has made no call yet`);
      const used =
        (latest.uncached_input_tokens ?? 0) +
        (latest.cached_input_tokens ?? 0) +
        (latest.cache_creation_tokens ?? 0);
      const share = window === null ? "" : ` of ${window} (${formatPercent(used / window)})`;
      const tiers = latest.tiers.map(({ tier, tokens }) => `${tier} ${tokens}`);
      const { heaviest, warmth } = await askMore(client, session);
      return {
        text: [
          `session ${session}, ${data.agent}, ${latest.model}`,
          `window: ${used} tokens${share}`,
          ...(tiers.length === 0 ? [] : [`by tier: ${tiers.join(", ")}`]),
          `so far: $${data.cost_usd}, ${formatCount(data.call_count, "call")}, ${formatCount(data.miss_count, "miss", "misses")}, ${formatCount(data.compaction_count, "compaction")}`,
          warmth,
          ...heaviest,
        ].join("\n"),
      };
    },
  };
}

interface More {
  readonly warmth: string;
  readonly heaviest: readonly string[];
}

async function askMore(client: ApiClient, session: string): Promise<More> {
  const { data: warm } = await answerOf(client.ask("warmth", { query: { session } }));
  const [found] = warm;
  const cold = found?.cold_cost_usd ?? null;
  const loss = cold === null ? "" : `; letting it go cold costs $${cold}`;
  const until = found?.is_warm === true ? `warm until ${found.warm_until}${loss}` : "cold";
  const query = { from: "7d", session, group_by: "section", limit: 5 } as const;
  const { data } = await answerOf(client.ask("weight", { query }));
  const rows = data.map(
    (each) => `  ${each.group}: ${each.carried_tokens} tokens, $${each.cost_usd}`,
  );
  const heaviest = rows.length === 0 ? [] : ["costliest to carry:", ...rows];
  return { warmth: `cache: ${until}`, heaviest };
}
