// A line per group over time, by uPlot.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { dollars } from "../../words/figures.ts";

export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly label: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
}

/** Told apart by dashes as well as by colour. */
const looks = [
  { colour: "--w5", dash: [] },
  { colour: "--focus", dash: [8, 4] },
  { colour: "--good", dash: [2, 3] },
  { colour: "--fresh", dash: [12, 3, 2, 3] },
  { colour: "--t0", dash: [4, 4] },
  { colour: "--t1", dash: [1, 4] },
] as const;

export const linesMax = looks.length;

export function Chart({ label, times, lines }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const ink = (name: string): string => style.getPropertyValue(name).trim();
    // One figure per bucket is a bar, several are lines.
    const bars = uPlot.paths.bars?.({ size: [0.7, 80] });
    const axis = {
      stroke: ink("--soft"),
      grid: { stroke: ink("--line"), width: 1 },
      ticks: { stroke: ink("--line"), width: 1 },
    };
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: 240,
        series: [
          {},
          ...lines.slice(0, linesMax).map(({ name }, index) => ({
            label: name,
            stroke: ink(looks[index]?.colour ?? "--ink"),
            dash: [...(looks[index]?.dash ?? [])],
            width: 2,
            ...(lines.length === 1 && bars !== undefined
              ? {
                  fill: `${ink(looks[index]?.colour ?? "--ink")}99`,
                  paths: bars,
                  points: { show: false },
                }
              : { spanGaps: true, points: { show: times.length < 60, size: 5 } }),
            value: (_: uPlot, value: number | null) => (value === null ? "–" : dollars(value)),
          })),
        ],
        axes: [
          axis,
          { ...axis, size: 64, values: (_: uPlot, marks: number[]) => marks.map(dollars) },
        ],
      },
      [[...times], ...lines.slice(0, linesMax).map(({ values }) => [...values])],
      element,
    );
    const sizes = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: 240 }),
    );
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [times, lines]);
  return <div ref={place} role="img" aria-label={label} />;
}
