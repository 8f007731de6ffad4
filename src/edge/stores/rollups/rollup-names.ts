// The numbers that stand for names in stored sums.
import type { Database, Write } from "../sql/database.ts";
import { integer, textOrNull } from "../sql/read-row.ts";

/** Stands for no name, and for that of a deleted session. */
export const noName = 0;

export interface Names {
  /** The number of a name; a new one where it has none yet. */
  idOf(name: string | null): number;
  /** Null also for a name that was deleted. */
  nameOf(id: number): string | null;
  /** Reads the numbers of these names. `idOf` then gives new ones to the rest. */
  learn(names: Iterable<string>): Promise<void>;
  /** Reads the names of these numbers. */
  read(ids: Iterable<number>): Promise<void>;
  /** What stores the new ones. */
  writes(): readonly Write[];
}

const perQuery = 500;
/** From so many on, all names are read at once. */
const manyIds = 5000;

export function createNames(query: Database["query"]): Names {
  const ids = new Map<string, number>();
  const names = new Map<number, string | null>([[noName, null]]);
  const added: [number, string][] = [];
  let nextId: number | null = null;
  const keep = (id: number, name: string | null): void => {
    names.set(id, name);
    if (name !== null) ids.set(name, id);
  };
  const fetch = async (condition: string, values: readonly (string | number)[]): Promise<void> => {
    const rows = await query(`SELECT id, name FROM rollup_names${condition}`, values);
    for (const row of rows) keep(integer(row, "id"), textOrNull(row, "name"));
  };
  return {
    idOf: (name) => {
      if (name === null) return noName;
      const known = ids.get(name);
      if (known !== undefined) return known;
      nextId ??= 1;
      const id = nextId;
      nextId += 1;
      keep(id, name);
      added.push([id, name]);
      return id;
    },
    nameOf: (id) => names.get(id) ?? null,
    learn: async (wanted) => {
      if (nextId === null) {
        const [row] = await query("SELECT COALESCE(MAX(id), 0) + 1 AS next_id FROM rollup_names");
        nextId = row === undefined ? 1 : integer(row, "next_id");
      }
      const missing = [...new Set(wanted)].filter((name) => !ids.has(name));
      for (const part of inParts(missing)) {
        await fetch(` WHERE name IN (${part.map(() => "?").join(", ")})`, part);
      }
    },
    read: async (wanted) => {
      const missing = [...new Set(wanted)].filter((id) => !names.has(id));
      if (missing.length > manyIds) return fetch("", []);
      for (const part of inParts(missing)) {
        await fetch(` WHERE id IN (${part.map(() => "?").join(", ")})`, part);
      }
    },
    writes: () =>
      inParts(added).map((part) => ({
        sql: `INSERT INTO rollup_names (id, name) VALUES ${part.map(() => "(CAST(? AS BIGINT), ?)").join(", ")}`,
        values: part.flat(),
      })),
  };
}

function inParts<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / perQuery) }, (_, index) =>
    all.slice(index * perQuery, (index + 1) * perQuery),
  );
}
