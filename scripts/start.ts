// npm start: a guided session of `strata chat`, then what caching saved and why. No key, no network.
import { resolveModel } from "../src/core/models/resolve-model.ts";
import { loadO200k } from "../src/core/tokens/o200k/counter.ts";
import { runGuide } from "./start/guide.ts";

const usualWidth = 120;
const [wanted] = process.argv.slice(2);

try {
  if (wanted === "longer") {
    const { runLonger } = await import("./start/longer.ts");
    await runLonger();
  } else if (wanted === undefined) {
    const { stdout } = process;
    await runGuide({
      model: resolveModel("claude-sonnet-5-5").facts,
      counter: await loadO200k(),
      out: (text) => void stdout.write(text),
      isWatched: stdout.isTTY,
      colours: stdout.isTTY && stdout.hasColors(16),
      width: stdout.isTTY ? Math.min(usualWidth, stdout.columns) : usualWidth,
    });
  } else {
    console.error(`npm start knows no "${wanted}"; it takes nothing, or: npm start -- longer`);
    process.exitCode = 2;
  }
} catch (error) {
  console.error(`npm start failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
