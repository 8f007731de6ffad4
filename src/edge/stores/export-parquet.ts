// Calls of a window as a Parquet file, some thousand at a time: whole numbers of 64 bits and texts, as the ledger has them.
import type * as hyparquet from "hyparquet-writer";
import { exportedColumns, readCalls, type ExportWindow } from "./export-calls.ts";
import type { ResultRow, Snapshot } from "./sql/database.ts";
import { columnsOf } from "./sql/tables.ts";

/** What is needed of the package `hyparquet-writer`. */
export type ParquetPackage = Pick<
  typeof hyparquet,
  "ParquetWriter" | "fileWriter" | "schemaFromColumnData"
>;

const rowsPerGroup = 20_000;

/** Returns how many calls the file has. */
export async function exportParquet(
  snapshot: Pick<Snapshot, "rows">,
  window: ExportWindow,
  { file, parquet }: { readonly file: string; readonly parquet: ParquetPackage },
): Promise<number> {
  const { ParquetWriter, fileWriter, schemaFromColumnData } = parquet;
  const schema = schemaFromColumnData({ columnData: toColumns([]) });
  const writer = new ParquetWriter({ writer: fileWriter(file), schema });
  let rows: ResultRow[] = [];
  let count = 0;
  const writeGroup = async (): Promise<void> => {
    if (rows.length === 0) return;
    await writer.write({ columnData: toColumns(rows), rowGroupSize: rowsPerGroup });
    count += rows.length;
    rows = [];
  };
  for await (const row of readCalls(snapshot, window)) {
    rows.push(row);
    if (rows.length === rowsPerGroup) await writeGroup();
  }
  await writeGroup();
  await writer.finish();
  return count;
}

interface Column {
  readonly name: string;
  readonly type: "INT64" | "STRING";
  readonly nullable: true;
  readonly data: (bigint | string | null)[];
}

function toColumns(rows: readonly ResultRow[]): Column[] {
  const types = columnsOf("calls");
  return exportedColumns.map((name) => {
    const isNumber = types[name] === "integer";
    return {
      name,
      type: isNumber ? "INT64" : "STRING",
      nullable: true,
      data: rows.map((row) => {
        const value = row[name];
        if (value === null || value === undefined) return null;
        const text = typeof value === "string" ? value : JSON.stringify(value);
        return isNumber ? BigInt(text) : text;
      }),
    };
  });
}
