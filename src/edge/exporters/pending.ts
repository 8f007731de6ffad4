// What was begun and is not ended yet, never more than so many: ends may never come.

export interface Pending<Value> {
  begin(key: string, value: Value): void;
  /** What was begun under the key, which is free again; undefined where nothing is known of it. */
  end(key: string): Value | undefined;
}

/** What was begun first is forgotten first. */
export function createPending<Value>(max: number): Pending<Value> {
  const values = new Map<string, Value>();
  return {
    begin: (key, value) => {
      values.delete(key);
      values.set(key, value);
      if (values.size <= max) return;
      const [oldest] = values.keys();
      if (oldest !== undefined) values.delete(oldest);
    },
    end: (key) => {
      const value = values.get(key);
      values.delete(key);
      return value;
    },
  };
}
