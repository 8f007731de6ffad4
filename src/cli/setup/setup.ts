// strata setup: a client's settings so that it talks to the gateway. Shown, then written; --undo gives back every byte.
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { didYouMean } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import { readDataDirectory } from "../../host/config/environment.ts";
import type { CommandBody, CommandInput, Io } from "../command.ts";
import { confirm } from "../confirm.ts";
import { toServerUrl } from "../stats/ask-server.ts";
import { clientSetups } from "./clients.ts";
import { given } from "./client-places.ts";
import type { ClientSetup, SetupPlace } from "./client-setup.ts";
import { prepareSetup, type PreparedSetup } from "./prepare-setup.ts";
import { programWords } from "./program-words.ts";
import { renderDone, renderPrepared, renderUndone } from "./render-setup.ts";
import { readBytes, removeFile, removeFolders, writeBytes } from "./settings-file.ts";
import { keepRecord, readRecord, recordFile, type ChangedFile } from "./setup-record.ts";
import { undoFile } from "./undo-file.ts";

export const run: CommandBody = async (input, io) => {
  const client = findClient(input.operands[0] ?? "");
  const data = readDataDirectory(io.env).value;
  const place = placeOf(input, io, data, client);
  const record = recordFile(data, client.name, client.folder(place));
  return input.switches.has("undo")
    ? undo({ client, record, input, io })
    : setUp({ client, place, record, input, io });
};

interface Task {
  readonly client: ClientSetup;
  /** The file that says what was changed. */
  readonly record: string;
  readonly input: CommandInput;
  readonly io: Io;
}

async function setUp({
  client,
  place,
  record,
  input,
  io,
}: Task & { readonly place: SetupPlace }): Promise<number> {
  const { switches } = input;
  const isJson = switches.has("json");
  const prepared = prepareSetup(client.plan(place), readRecord(record));
  if (!isJson) io.out(renderPrepared(client, prepared, place));
  if (isDone(prepared)) {
    if (isJson) io.out(renderDone(client, prepared, false));
    return 0;
  }
  if (switches.has("dry-run")) {
    if (isJson) io.out(renderDone(client, prepared, false));
    return 0;
  }
  if (!(await confirm("Write this?", switches.has("yes")))) {
    io.error("nothing was changed\n");
    return 1;
  }
  write(prepared, record);
  if (isJson) io.out(renderDone(client, prepared, true));
  else io.out(`Written. To take it back: strata setup ${client.name} --undo\n`);
  return 0;
}

/** What is kept for undoing is written first: a crash in between loses nothing. */
function write({ files, undone }: PreparedSetup, record: string): void {
  const kept = files.map(({ bytes: _bytes, ...file }) => file);
  keepRecord(record, { files: [...kept, ...undone] });
  takeBack(undone);
  const written = files.map(({ bytes, ...file }) => {
    const isSame = readBytes(file.file)?.equals(bytes) === true;
    const made = isSame ? [] : writeBytes(file.file, bytes);
    return { ...file, folders: [...file.folders, ...made] };
  });
  keepRecord(record, { files: written });
}

async function undo({ client, record, input, io }: Task): Promise<number> {
  const kept = readRecord(record);
  if (kept === null) {
    throw new StrataError(
      "not-found",
      `${client.title} was not set up here`,
      "there is nothing to undo",
    );
  }
  const left = takeBack(kept.files);
  removeFile(record);
  removeFolders([dirname(dirname(record)), dirname(record)]);
  io.out(renderUndone(client, kept, left, input.switches.has("json")));
  return 0;
}

/** Returns what stays as it is, and why. */
function takeBack(files: readonly ChangedFile[]): readonly string[] {
  const left = files.flatMap((changed) => {
    const now = readBytes(changed.file);
    const undone = undoFile(changed, now);
    if (undone.bytes === null) removeFile(changed.file);
    else if (now === null || !now.equals(undone.bytes)) writeBytes(changed.file, undone.bytes);
    return undone.left;
  });
  // Innermost first, over all files: the last one may have needed a folder of the first.
  for (const { folders } of files.toReversed()) removeFolders(folders);
  return left;
}

function isDone({ files, undone }: PreparedSetup): boolean {
  const isSame = files.every(({ file, bytes }) => readBytes(file)?.equals(bytes) === true);
  return isSame && undone.length === 0;
}

function placeOf(
  { values }: CommandInput,
  { env }: Io,
  data: string,
  client: ClientSetup,
): SetupPlace {
  return {
    home: given(env["HOME"]) ?? homedir(),
    env,
    url: toServerUrl(values.get("url") ?? "http://127.0.0.1:8787"),
    program: programWords(env),
    ownFolder: join(data, "setup", `${client.name}-plugin`),
  };
}

function findClient(name: string): ClientSetup {
  const found = clientSetups.find((each) => each.name === name);
  if (found !== undefined) return found;
  const known = clientSetups.map((each) => each.name);
  throw new StrataError(
    "usage",
    `strata setup does not know ${name}`,
    didYouMean(name, known, `give one of ${known.join(", ")}`),
  );
}
