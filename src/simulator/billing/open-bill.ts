// Bills that are open: a request is billed at its start, and its response settles what it wrote.
import type { Bill, EntryView } from "./bill.ts";
import type { BillableRequest } from "./billable-request.ts";

export interface Billing {
  /** Bills a request at its start. Its writes become readable when its response begins. */
  open(request: BillableRequest): OpenBill;
  entries(nowMs: number): EntryView[];
  clear(): void;
}

export interface OpenBill {
  readonly bill: Bill;
  /** Call at the first byte of the response: its writes become readable. */
  begin(): void;
  /** Call at the last byte of the response; lifetimes can count from it. */
  end(atMs: number): void;
  /** Call if there is no response: nothing is written, and no lifetime is extended. */
  abandon(): void;
}
