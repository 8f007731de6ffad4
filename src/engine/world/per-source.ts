// A value that is made again when what it is made of changes.

/** The same value until `read` gives another source. */
export function perSource<Source, Value>(
  read: () => Source,
  make: (from: Source) => Value,
): () => Value {
  let made: { readonly from: Source; readonly value: Value } | null = null;
  return () => {
    const from = read();
    if (made === null || made.from !== from) made = { from, value: make(from) };
    return made.value;
  };
}
