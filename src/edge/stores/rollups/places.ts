// The place of each group among those that were met: a table of numbers, because looking groups up is most of what adding cells costs.
import { assert } from "../../../core/assert.ts";

interface Grouped {
  readonly count: number;
  readonly dims: readonly ArrayLike<number>[];
}

export interface Places {
  /** How many groups there are. */
  readonly count: number;
  /** The place of each row's group; a new one comes last. Valid until the next call. */
  of(cells: Grouped): Int32Array;
  /** The groups by place. */
  dims(): readonly Int32Array[];
}

/** Values are below this. */
const valueMax = 2 ** 31;

export function createPlaces(names: readonly string[]): Places {
  let kept = names.map(() => new Int32Array(16));
  /** Places plus one, by hash; 0 is free. At least twice as many as groups. */
  let table = new Int32Array(64);
  let count = 0;
  let at = new Int32Array(64);

  const insertAll = (): void => {
    table = new Int32Array(table.length * 4);
    const mask = table.length - 1;
    for (let place = 0; place < count; place += 1) {
      let slot = hashOf(kept, place) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = place + 1;
    }
  };
  const isAt = (place: number, dims: Grouped["dims"], row: number): boolean => {
    for (let dim = 0; dim < kept.length; dim += 1) {
      if (kept[dim]?.[place] !== dims[dim]?.[row]) return false;
    }
    return true;
  };
  const add = (dims: Grouped["dims"], row: number): number => {
    const place = count;
    count += 1;
    if (place === kept[0]?.length) kept = kept.map(doubled);
    for (let dim = 0; dim < kept.length; dim += 1) {
      const value = dims[dim]?.[row] ?? 0;
      assert(value >= 0 && value < valueMax, `${names[dim] ?? ""} is ${value}`);
      const values = kept[dim];
      if (values !== undefined) values[place] = value;
    }
    return place;
  };
  const placeOf = (dims: Grouped["dims"], row: number): number => {
    const mask = table.length - 1;
    let slot = hashOf(dims, row) & mask;
    for (;;) {
      const found = table[slot] ?? 0;
      if (found === 0) {
        const place = add(dims, row);
        table[slot] = place + 1;
        if (count * 2 > table.length) insertAll();
        return place;
      }
      if (isAt(found - 1, dims, row)) return found - 1;
      slot = (slot + 1) & mask;
    }
  };

  return {
    get count() {
      return count;
    },
    of: (cells) => {
      if (at.length < cells.count) at = new Int32Array(cells.count * 2);
      for (let row = 0; row < cells.count; row += 1) at[row] = placeOf(cells.dims, row);
      return at;
    },
    dims: () => kept.map((values) => values.subarray(0, count)),
  };
}

function hashOf(dims: readonly ArrayLike<number>[], row: number): number {
  let hash = 0;
  for (let dim = 0; dim < dims.length; dim += 1) {
    hash = Math.imul(hash ^ (dims[dim]?.[row] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function doubled(values: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(values.length * 2);
  more.set(values);
  return more;
}
