// Waiting that an abort ends.

/** Returns the work's result, or `onAbort`'s result if the abort comes first. The work itself is not stopped. */
export async function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
  onAbort: () => Result | Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work;
  const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
  const listener = (): void => abort();
  signal.addEventListener("abort", listener, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.then(onAbort)]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}
