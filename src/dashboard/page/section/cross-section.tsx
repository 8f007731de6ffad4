// The cross-section of a session, to look at, point at, zoom and walk through by keys.
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { reveal, wholeView, zoom, type Scale, type View } from "../../picture/place-columns.ts";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import type { Vein } from "../../picture/place-veins.ts";
import { toScene, type Scene } from "../../picture/scene.ts";
import { Canvas } from "./canvas.tsx";
import { moveOf } from "./keys.ts";
import { CostLegend, Legend } from "./legend.tsx";
import { createPainter } from "./paint-all.ts";
import { createCostPainter } from "./paint-costs.ts";
import { describeScene } from "./paint.ts";
import { usePointer, type Pointed } from "./pointer.ts";
import { Tip } from "./tip.tsx";
import { Veins } from "./veins.tsx";

export interface CrossSectionProps {
  readonly calls: readonly PicturedCall[];
  /** Index of the chosen column. */
  readonly chosen: number | null;
  readonly onChoose: (column: number | null) => void;
  /** Sub-agents that the session started. */
  readonly veins?: readonly Vein[];
  readonly onOpen?: (session: string) => void;
  /** The policy whose costs are drawn over what was paid. */
  readonly compared?: string | null;
  readonly scale?: Scale;
  readonly onScale?: (scale: Scale) => void;
}

export function CrossSection(props: CrossSectionProps): JSX.Element {
  const { calls, chosen, onChoose, veins = none, onOpen = ignore, compared = null } = props;
  const [ownScale, setOwnScale] = useState<Scale>("calls");
  const { scale = ownScale, onScale = setOwnScale } = props;
  const height = useRoomyHeight();
  const [view, setView] = useState<View>(wholeView);
  const scene = useMemo(() => toScene(calls, scale), [calls, scale]);
  return (
    <div class="cross-section">
      <Choices scale={scale} setScale={onScale} view={view} setView={setView} />
      <Plot
        scene={scene}
        view={view}
        setView={setView}
        chosen={chosen}
        onChoose={onChoose}
        height={height}
      />
      <Veins scene={scene} view={view} veins={veins} onOpen={onOpen} />
      <Legend calls={calls} />
      <Costs scene={scene} view={view} />
      <CostLegend compared={compared} />
    </div>
  );
}

const none: readonly Vein[] = [];
const ignore = (): void => {};

/** A wall shows more than a phone. */
function useRoomyHeight(): number {
  const [height, setHeight] = useState(roomyHeight);
  useEffect(() => {
    const onResize = (): void => setHeight(roomyHeight());
    addEventListener("resize", onResize);
    return () => removeEventListener("resize", onResize);
  }, []);
  return height;
}

function roomyHeight(): number {
  return Math.round(Math.max(300, Math.min(1000, innerHeight * 0.46)));
}

interface PlotProps extends Pick<CrossSectionProps, "chosen" | "onChoose"> {
  readonly scene: Scene;
  readonly view: View;
  readonly setView: (view: View) => void;
  readonly height: number;
}

function Plot({ scene, view, setView, chosen, onChoose, height }: PlotProps): JSX.Element {
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const label = useMemo(() => describeScene(scene), [scene]);
  const paint = useMemo(createPainter, []);
  const choose = (column: number): void => {
    const next = Math.max(0, Math.min(scene.calls.length - 1, column));
    setView(reveal(view, scene.edges, next));
    onChoose(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const moved = moveOf(event, { chosen, scene, view });
    if (moved === null) return;
    event.preventDefault();
    if (moved.view !== undefined) setView(moved.view);
    if (moved.column === null) onChoose(null);
    else if (moved.column !== undefined) choose(moved.column);
  };
  const pointer = usePointer({ scene, view, height, setView, setPointed, choose });
  const over = { chosen, pointed: pointed?.column ?? null, layer: pointed?.layer ?? null };
  return (
    <div
      class="plot"
      tabIndex={0}
      role="application"
      aria-label={label}
      aria-describedby="chosen-call"
      onKeyDown={onKeyDown}
      {...pointer}
    >
      <Canvas
        class="prompts"
        height={height}
        aria-hidden="true"
        isOpaque
        of={[scene, view, ...Object.values(over)]}
        draw={({ context, ...surface }) => paint(context, scene, { ...surface, view }, over)}
      />
      {pointed && <Tip scene={scene} {...pointed} />}
    </div>
  );
}

function Costs({ scene, view }: { readonly scene: Scene; readonly view: View }): JSX.Element {
  const paint = useMemo(createCostPainter, []);
  return (
    <Canvas
      height={92}
      role="img"
      aria-label="dollars per call"
      of={[scene, view]}
      draw={({ context, ...surface }) => paint(context, scene, { ...surface, view })}
    />
  );
}

interface ChoicesProps {
  readonly scale: Scale;
  readonly setScale: (scale: Scale) => void;
  readonly view: View;
  readonly setView: (view: View) => void;
}

function Choices({ scale, setScale, view, setView }: ChoicesProps): JSX.Element {
  return (
    <div class="choices">
      <button
        type="button"
        aria-pressed={scale === "time"}
        onClick={() => setScale(scale === "time" ? "calls" : "time")}
      >
        pauses to scale
      </button>
      <button type="button" onClick={() => setView(zoom(view, (view.from + view.to) / 2, 2))}>
        closer
      </button>
      <button type="button" onClick={() => setView(wholeView)} disabled={view === wholeView}>
        whole session
      </button>
    </div>
  );
}
