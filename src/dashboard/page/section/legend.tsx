// What colours and signs of a cross-section mean.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PicturedCall } from "../../picture/pictured-call.ts";

const swatches = [
  ["t0", "tools"],
  ["t1", "static system"],
  ["t2", "session system"],
  ["t3", "history, read from the cache: what a call added keeps its shade"],
  ["w5", "written for minutes"],
  ["w1", "written for an hour or longer"],
  ["fresh", "sent at full price"],
] as const;

/** Names only what there is. */
export function Legend({ calls }: { readonly calls: readonly PicturedCall[] }): JSX.Element {
  const signs = useMemo(() => signsIn(calls), [calls]);
  return (
    <ul class="key">
      {swatches
        .filter(([name]) => signs.has(name))
        .map(([name, meaning]) => (
          <Swatch key={name} name={name} meaning={meaning} />
        ))}
      {signs.has("miss") && (
        <li>
          <b class="fault" aria-hidden="true">
            ▼ ⌇
          </b>{" "}
          miss, from where the prompt was not read
        </li>
      )}
      {signs.has("fold") && (
        <li>
          <b class="good" aria-hidden="true">
            ∫
          </b>{" "}
          compaction
        </li>
      )}
      <li>┊ pause</li>
      {signs.has("marker") && <li>▾ marker, of the chosen call</li>}
    </ul>
  );
}

function Swatch({
  name,
  meaning,
}: {
  readonly name: string;
  readonly meaning: string;
}): JSX.Element {
  return (
    <li>
      <i class={`sw ${name}`} aria-hidden="true" />
      {meaning}
    </li>
  );
}

function signsIn(calls: readonly PicturedCall[]): ReadonlySet<string> {
  const signs = new Set<string>(["t3"]);
  for (const { added, written, miss, isCompacted, markers, dollars } of calls) {
    for (const { tier } of added) if (tier < "T3") signs.add(tier.toLowerCase());
    for (const { lifetime } of written) signs.add(lifetime === "5m" ? "w5" : "w1");
    if ((dollars?.fresh ?? 0) > 0) signs.add("fresh");
    if (miss !== null) signs.add("miss");
    if (isCompacted) signs.add("fold");
    if (markers.length > 0) signs.add("marker");
  }
  return signs;
}

const buckets = [
  ["t3", "read"],
  ["w5", "written"],
  ["fresh", "full price"],
  ["t0", "output"],
] as const;

export function CostLegend({ compared }: { readonly compared: string | null }): JSX.Element {
  return (
    <ul class="key">
      <li>dollars per call:</li>
      {buckets.map(([name, meaning]) => (
        <Swatch key={name} name={name} meaning={meaning} />
      ))}
      {compared !== null && (
        <li>
          <b class="line" aria-hidden="true">
            —
          </b>{" "}
          what {compared} would have paid
        </li>
      )}
    </ul>
  );
}
