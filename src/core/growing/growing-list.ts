// Lists that grow at the end: appending costs only what is appended, and earlier values stay unchanged.

/** Read access to a list. An array is one. */
export interface ListView<Item> {
  readonly length: number;
  at(index: number): Item | undefined;
}

/** A list that shares its beginning with every list made from it. */
export interface GrowingList<Item> extends ListView<Item> {
  append(more: readonly Item[]): GrowingList<Item>;
}

export function growingList<Item>(items: readonly Item[] = []): GrowingList<Item> {
  return new SharedList([...items], items.length);
}

/** The first append from a place writes in place; a later append from the same place copies. */
class SharedList<Item> implements GrowingList<Item> {
  readonly length: number;
  readonly #shared: Item[];

  constructor(shared: Item[], length: number) {
    this.#shared = shared;
    this.length = length;
  }

  at(index: number): Item | undefined {
    return index < 0 || index >= this.length ? undefined : this.#shared[index];
  }

  append(more: readonly Item[]): GrowingList<Item> {
    const { length } = this;
    const own = this.#shared.length === length ? this.#shared : this.#shared.slice(0, length);
    for (const item of more) own.push(item);
    return new SharedList(own, own.length);
  }
}

/** Several lists read as one. */
export function joinLists<Item>(...lists: readonly ListView<Item>[]): ListView<Item> {
  const length = lists.reduce((sum, list) => sum + list.length, 0);
  return {
    length,
    at: (index) => {
      let place = index;
      for (const list of lists) {
        if (place < list.length) return place < 0 ? undefined : list.at(place);
        place -= list.length;
      }
      return undefined;
    },
  };
}

/** All items in order, for code that must look at every one. */
export function* itemsOf<Item>(list: ListView<Item>): Generator<Item> {
  for (let index = 0; index < list.length; index += 1) {
    const item = list.at(index);
    if (item !== undefined) yield item;
  }
}
