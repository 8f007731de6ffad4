// Ways to write a configuration file: valid, in every way that people and programs write files, or broken.
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { plantedKey } from "../../harness/planted-key.ts";

/** Resolves when writing has begun. Await `rest` together with the next turns. */
export type WriteConfig = (file: string, yaml: string) => Promise<Writing>;

export interface Writing {
  /** The rest of the writing, while turns run. */
  readonly rest: Promise<void>;
}

/** Well below the 20 ms after which a file counts as complete, because file times lag by a few milliseconds. */
const pauseMs = 8;
const done: Writing = { rest: Promise.resolve() };

export const goodWays: Readonly<Record<string, WriteConfig>> = {
  renamed: (file, yaml) => {
    replace(file, yaml);
    return Promise.resolve(done);
  },
  "in place": (file, yaml) => {
    writeFileSync(file, yaml);
    return Promise.resolve(done);
  },
  // A slow editor: a reader has to wait for the end.
  "in two halves": (file, yaml) => {
    writeFileSync(file, yaml.slice(0, yaml.length - 20));
    return Promise.resolve({ rest: wait(pauseMs).then(() => writeFileSync(file, yaml)) });
  },
  "gone for a moment": (file, yaml) => {
    rmSync(file, { force: true });
    return Promise.resolve({ rest: wait(pauseMs).then(() => writeFileSync(file, yaml)) });
  },
  "same size and time": (file, yaml) => {
    const before = statSync(file, { throwIfNoEntry: false });
    writeFileSync(`${file}.new`, yaml);
    if (before !== undefined) utimesSync(`${file}.new`, before.atime, before.mtime);
    renameSync(`${file}.new`, file);
    return Promise.resolve(done);
  },
};

/** Each contains the key, so that a message that quotes the file would leak it. */
export const brokenWays: Readonly<Record<string, (file: string, yaml: string) => void>> = {
  "no YAML": (file, yaml) => replace(file, `${yaml}policies: [ "${plantedKey}"\n`),
  "unknown key": (file, yaml) => replace(file, `${yaml}no_such_setting: "${plantedKey}"\n`),
  "out of range": (file, yaml) =>
    replace(file, yaml.replace(/compact_at_pct: [\d.]+/, "compact_at_pct: 9")),
  "half of it": (file, yaml) => writeFileSync(file, yaml.slice(0, yaml.length - 20)),
  gone: (file) => rmSync(file),
  empty: (file) => writeFileSync(file, ""),
  "a password in an address": (file, yaml) =>
    replace(file, yaml.replace('base_url: "http://', `base_url: "http://ana:${plantedKey}@`)),
  "not text": (file, yaml) => replace(file, Buffer.concat([Buffer.from(yaml), Buffer.of(255)])),
};

function replace(file: string, content: string | Buffer): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
