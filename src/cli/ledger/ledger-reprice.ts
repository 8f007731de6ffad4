// strata ledger reprice: recorded calls at today's knowledge of the prices of their day.
import { parseWindow, toIso } from "../../analytics/time-window.ts";
import type { PricedCall } from "../../core/ledger/ledger.ts";
import { findTotal } from "../../core/models/cost.ts";
import { formatUsd } from "../../core/models/pico-usd.ts";
import { findModel } from "../../core/models/resolve-model.ts";
import { onServiceTier } from "../../core/models/service-tiers.ts";
import { StrataError } from "../../core/strata-error.ts";
import { findVendor } from "../../core/wire/protocols.ts";
import { readConfiguredCatalogue } from "../../host/config/catalogue.ts";
import { readCatalogue } from "../../host/config/read-catalogue.ts";
import { formatCount } from "../../replay/format-figures.ts";
import type { CommandBody } from "../command.ts";
import { useLedger } from "../use-ledger.ts";
import { printResult, toPrintable } from "./render-ledger.ts";

export const run: CommandBody = (input, io) =>
  useLedger(input, io, async ({ ledger }, place) => {
    const { values, switches } = input;
    const from = values.get("from");
    if (from === undefined) {
      throw new StrataError(
        "usage",
        "strata ledger reprice needs --from TIME",
        "name the first day whose price was wrong, for example --from 2026-11-01; see: strata ledger reprice --help",
      );
    }
    const to = values.get("to");
    const window = parseWindow({ from, ...(to === undefined ? {} : { to }) }, Date.now());
    const file = values.get("models");
    const catalogue =
      file === undefined
        ? await readConfiguredCatalogue(io.env, (problem) =>
            io.error(`strata: warning: ${toPrintable(problem)}\n`),
          )
        : readCatalogue(file);
    const only = values.get("model");
    const priceOf = ({ model, usage, startMs, serviceTier }: PricedCall): bigint | null => {
      const facts = findModel(model, catalogue)?.facts ?? null;
      if (facts === null || (only !== undefined && model !== only && facts.id !== only))
        return null;
      return onServiceTier(findTotal(usage, facts, { at: startMs }), facts, serviceTier);
    };
    const isDry = switches.has("dry-run");
    const done = await ledger.reprice({
      fromMs: window.startMs,
      toMs: window.endMs,
      priceOf,
      // Their replies name what they charge. Calls of before do not say which did.
      mayNameCosts: (provider) => findVendor(provider)?.listed?.hasManyHosts === true,
      isDry,
    });
    const { seen, changed, unpriced, otherCount, namedCount, differencePicoUsd } = done;
    const verb = isDry ? "would cost" : "now cost";
    const text = [
      `${formatCount(changed, "call")} of ${seen} in ${place.name} from ${toIso(window.startMs)} to ${toIso(window.endMs)} ${verb} ${formatUsd(differencePicoUsd)} more in all.\n`,
      unpriced > 0
        ? `${formatCount(unpriced, "call")} left as before: no price is known for them, or another model was named.\n`
        : "",
      otherCount > 0
        ? `${formatCount(otherCount, "call")} left as before: the cost includes discarded attempts, or is that of keeping a prefix.\n`
        : "",
      namedCount > 0
        ? `${formatCount(namedCount, "call")} left as before: the reply named the cost, or went through a router whose replies do.\n`
        : "",
    ].join("");
    return printResult(input, io, { value: { store: place.name, isDry, ...done }, text });
  });
