// Closes what was opened, the latest first.

export interface Closing {
  close(): Promise<void>;
}

/** A part that fails to close does not keep the others open. */
export async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of opened.splice(0).toReversed()) {
    try {
      await each.close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
