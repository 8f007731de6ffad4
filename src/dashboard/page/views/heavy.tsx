// The pieces of a session that cost most to carry from call to call.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PicturedCall } from "../../picture/pictured-call.ts";
import { toScene, type Carried } from "../../picture/scene.ts";
import { count, dollars, tokens } from "../../words/figures.ts";
import { Empty } from "../app/answered.tsx";
import { Table, type Column } from "../app/table.tsx";

const shownMax = 10;

export function Heavy({ calls }: { readonly calls: readonly PicturedCall[] }): JSX.Element {
  const heaviest = useMemo(() => {
    const found = toScene(calls, "calls").heaviest;
    return found.toSorted((left, right) => (right.dollars ?? 0) - (left.dollars ?? 0));
  }, [calls]);
  if (heaviest.length === 0) return <Empty>Nothing was carried from call to call yet.</Empty>;
  return <Table label="heavy pieces" rows={heaviest.slice(0, shownMax)} columns={columns} />;
}

const columns: readonly Column<Carried>[] = [
  { name: "piece", value: ({ section }) => section, isWords: true },
  { name: "size", value: ({ tokens: size }) => size, show: (row) => tokens(row.tokens) },
  { name: "calls", value: ({ callCount }) => callCount, show: (row) => count(row.callCount) },
  {
    name: "carried for",
    value: ({ dollars: paid }) => paid,
    show: ({ dollars: paid }) => dollars(paid),
  },
];
