// npm run -s fit-tokens: fits the weights of Claude's older tokenizer to recorded bills, and says how far off they are.
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  deltaTokensMin,
  type Difference,
  differencesIn,
  type FirstPrompt,
  firstPromptIn,
} from "../bench/tokens/differences.ts";
import { fitWeights, type Weights } from "../bench/tokens/fit-weights.ts";
import { quantile } from "../harness/measure.ts";
import { UsageError } from "../harness/report.ts";
import { splitByRepository, traceFolder } from "../harness/traces.ts";
import { weighTokens } from "../src/core/tokens/estimate.ts";
import { loadO200k, type TextCounter } from "../src/core/tokens/o200k/counter.ts";
import { priorWeights, readPriorWeights } from "../src/core/tokens/priors.ts";

const help = `Fits the weights of claude-old in src/core/tokens/data/priors.json to the bills of recorded sessions.
Half of the repositories are fitted to, the other half is measured.

  npm run -s fit-tokens -- --traces DIR            prints the weights and both errors as JSON
  npm run -s fit-tokens -- --traces DIR --write    puts the weights into the file, then: npm run fix`;

const file = new URL("../src/core/tokens/data/priors.json", import.meta.url);
const tokenizer = "claude-old";

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  try {
    const { values } = parseArgs({
      args,
      options: {
        traces: { type: "string" },
        write: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      console.log(help);
      return 0;
    }
    const weights = await fit(traceFolder(values.traces, "sessions"));
    if (values.write) write(weights);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof TypeError)) throw error;
    console.error(`${error.message}\nTry: npm run -s fit-tokens -- --help`);
    return 2;
  }
}

async function fit(folder: string): Promise<Weights> {
  const counter = await loadO200k();
  const [half, otherHalf] = splitByRepository(folder);
  const tuned = await shownDifferences(half?.files ?? [], counter);
  if (tuned.length === 0) {
    throw new UsageError(`${folder} holds no bills of ${tokenizer} models to fit to`);
  }
  const firstPrompts = await firstPromptsOf(half?.files ?? [], counter);
  const other = await shownDifferences(otherHalf?.files ?? [], counter);
  const { imagePixels, imagesOfUnknownSize, documents } = priorWeights(tokenizer);
  const fixed = { imagePixels, imagesOfUnknownSize, documents };
  const weights = { ...fitWeights(tuned, firstPrompts, fixed), ...fixed };
  const report = {
    weights,
    "fitted to": errorsOf(tuned, weights),
    "first prompts fitted to": errorsOf(
      firstPrompts.map((prompt) => ({ ...prompt, knownTokens: 0 })),
      weights,
    ),
    "other half": errorsOf(other, weights),
  };
  console.log(JSON.stringify(report, null, 2));
  return weights;
}

async function firstPromptsOf(
  files: readonly string[],
  counter: TextCounter,
): Promise<FirstPrompt[]> {
  const prompts = await Promise.all(files.map((each) => firstPromptIn(each, counter)));
  return prompts.flatMap((prompt) => (prompt?.tokenizer === tokenizer ? [prompt] : []));
}

async function shownDifferences(
  files: readonly string[],
  counter: TextCounter,
): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const each of files) {
    // One session at a time: they are large.
    // oxlint-disable-next-line no-await-in-loop
    for await (const difference of differencesIn(each, counter)) {
      if (typeof difference === "string" || difference.tokenizer !== tokenizer) continue;
      if (!difference.isHidden && difference.billedTokens > deltaTokensMin) found.push(difference);
    }
  }
  return found;
}

function errorsOf(
  differences: readonly Pick<Difference, "rest" | "knownTokens" | "billedTokens">[],
  weights: Weights,
) {
  const all = readPriorWeights(weights, tokenizer);
  const errors = differences.map(({ rest, knownTokens, billedTokens }) => {
    return Math.abs(knownTokens + weighTokens(rest, all) - billedTokens) / billedTokens;
  });
  return {
    differences: errors.length,
    median: quantile(errors, 0.5),
    p90: quantile(errors, 0.9),
  };
}

function write(weights: Weights): void {
  const data = JSON.parse(readFileSync(file, "utf8"));
  data.generations[tokenizer].weights = weights;
  writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`);
}
