// All cache writes of a row of `calls c`.
import { writeColumns } from "../ledger/turns/call-rows.ts";

export const writtenSql: string = `(${Object.values(writeColumns)
  .map((column) => `COALESCE(c.${column}, 0)`)
  .join(" + ")})`;
