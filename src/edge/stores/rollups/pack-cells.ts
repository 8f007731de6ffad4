// Cells as text of one row: each column in as few bytes as its largest number needs, so that many are read at once.
import { StrataError } from "../../../core/strata-error.ts";
import { repairHint } from "../sql/read-row.ts";
import type { Cells, Shape } from "./cells.ts";

/**
 * The count and the columns, with `;` between. A column is one number after `=` if all its values are the same. Else the bytes per
 * value, then all values in base64.
 */
export function packCells({ count, dims, columns }: Cells): string {
  return [count, ...[...dims, ...columns].map((each) => packColumn(each, count))].join(";");
}

/** `wanted`: the dims and columns that are read; the others are left empty. By default all. */
export function unpackCells(
  text: string,
  { dims, columns }: Shape,
  wanted?: ReadonlySet<string>,
): Cells {
  const [first = "", ...packed] = text.split(";");
  const count = Number(first);
  const names = [...dims, ...Object.keys(columns)];
  if (!Number.isSafeInteger(count) || packed.length !== names.length) throw damaged();
  const arrays = packed.map((each, at) =>
    wanted?.has(names[at] ?? "") === false ? none : unpackColumn(each, count),
  );
  return { count, dims: arrays.slice(0, dims.length), columns: arrays.slice(dims.length) };
}

const none: ArrayLike<number> = [];

type Width = 1 | 2 | 4 | 8;

const arrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;

function packColumn(values: ArrayLike<number>, count: number): string {
  const first = values[0] ?? 0;
  let [isSame, max, min] = [true, 0, 0];
  for (let row = 0; row < count; row += 1) {
    const value = values[row] ?? 0;
    if (value !== first) isSame = false;
    if (value > max) max = value;
    if (value < min || !Number.isInteger(value)) min = Math.min(value, -1);
  }
  if (isSame) return `=${first}`;
  const width = widthOf(min, max);
  const array = arrays[width].from(values);
  const bytes = Buffer.from(array.buffer, array.byteOffset, count * width);
  return `${width}${bytes.toString("base64")}`;
}

function widthOf(min: number, max: number): Width {
  if (min < 0 || max >= 2 ** 32) return 8;
  return max < 256 ? 1 : max < 65_536 ? 2 : 4;
}

function unpackColumn(packed: string, count: number): ArrayLike<number> {
  if (packed.startsWith("=")) {
    const value = Number(packed.slice(1));
    return count === 1 ? [value] : new Float64Array(count).fill(value);
  }
  const bytes = Buffer.from(packed.slice(1), "base64");
  const width = Number(packed[0]);
  if (!isWidth(width) || bytes.length !== count * width) throw damaged();
  // A copy of its own begins where every array may.
  const { buffer, byteOffset } = bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
  return new arrays[width](buffer, byteOffset, count);
}

function isWidth(width: number): width is Width {
  return width === 1 || width === 2 || width === 4 || width === 8;
}

function damaged(): StrataError {
  return new StrataError("store-unavailable", "stored sums are damaged in the ledger", repairHint);
}
