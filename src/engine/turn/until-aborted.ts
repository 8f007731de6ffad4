// Waiting that an abort ends.

/** What the work gives, or what an abort that comes first makes of it. The work itself is not stopped by it. */
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
