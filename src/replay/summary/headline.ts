// The first line of a report, in text and on the page: what was paid, and what to do.
import { formatUsd } from "../format-figures.ts";
import type { ReplayReport } from "../report.ts";
import type { CauseReport, Headline } from "./summary.ts";

/** Amounts below this share of what was lost are left to the table of causes. */
const shareMin = 0.05;
const causesMax = 2;

export function headlineOf(report: ReplayReport): string {
  return headlineSentences(report).join(" ");
}

export function headlineSentences(report: ReplayReport): readonly string[] {
  const { headline, causes } = report.summary;
  if (headline === null) return [withoutBills(report)];
  const { paid, wouldCostUsd, lostUsd, plan } = headline;
  const under = plan === "adaptive" ? "" : ` under ${plan}`;
  const { totalUsd, inputUsd, outputUsd } = paid;
  const apart = `${formatUsd(inputUsd)} for input, ${formatUsd(outputUsd)} for output`;
  const first = `You paid ${formatUsd(totalUsd)} (${apart}).`;
  if (lostUsd <= 0 || Number(lostUsd.toFixed(4)) === 0) {
    return [first, `The same sessions would not have cost less${under}.`];
  }
  const would = `The same sessions would have cost ${formatUsd(wouldCostUsd)}${under}, ${formatUsd(lostUsd)} less.`;
  return [first, would, ...sentences(causes, headline)];
}

function sentences(causes: readonly CauseReport[], { lostUsd }: Headline): string[] {
  const large = causes.filter((cause) => cause.lostUsd > shareMin * lostUsd);
  const own = large.filter(({ cause }) => cause !== "markers").slice(0, causesMax);
  const markers = large.find(({ cause }) => cause === "markers");
  return [
    ...own.map(({ lostUsd: usd, what, act, first }, place) => {
      const of = place === 0 ? "of it " : "";
      return `${formatUsd(usd)} ${of}is ${what}: ${act} (${seenAt(first)}).`;
    }),
    ...(markers === undefined
      ? []
      : [
          `Markers placed by cost would save ${formatUsd(markers.lostUsd)}${own.length > 0 ? " more" : ""}.`,
        ]),
  ];
}

function seenAt({ session, call, at }: CauseReport["first"]): string {
  return `first seen at call ${call} of ${session}, ${at.slice(0, 16).replace("T", " ")}`;
}

/** Without bills nobody knows what was paid; the policies say what it would have been. */
function withoutBills({ policies, limit, requests, automaticOnly }: ReplayReport): string {
  const least = policies.toSorted((left, right) => left.costUsd - right.costUsd)[0];
  if (requests === 0 || least === undefined) {
    const cost = automaticOnly === undefined ? 0 : automaticOnly.costUsd;
    return `No bill is recorded. By the provider's documents these prompts cost ${formatUsd(cost)}.`;
  }
  const plain = least.relativeCost === 0 ? 0 : least.costUsd / least.relativeCost;
  return (
    `No bill is recorded. These prompts would have cost ${formatUsd(least.costUsd)} under ${least.policy} ` +
    `and ${formatUsd(plain)} without caching; no client can get below ${formatUsd(limit.costUsd)}.`
  );
}
