// Opens parts one after another, and closes them in the reverse order.

export interface Closing {
  close(): Promise<void>;
}

/** Registers a part that must be closed. */
export type Keep = <Part extends Closing>(part: Part) => Part;

/** `open` calls `keep` with each part as soon as it is open. If a later part fails, the earlier ones are closed again. */
export async function openAll<Parts>(
  open: (keep: Keep) => Promise<Parts>,
): Promise<Parts & Closing> {
  const opened: Closing[] = [];
  const keep: Keep = (part) => {
    opened.push(part);
    return part;
  };
  try {
    return { ...(await open(keep)), close: () => closeAll(opened) };
  } catch (error) {
    await closeAll(opened).catch(() => {});
    throw error;
  }
}

/** A part that fails to close does not keep the others open. */
async function closeAll(opened: Closing[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of opened.splice(0).toReversed()) {
    await each.close().catch((error: unknown) => void failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}
