// Finds the candidates that Tab completes: commands, models, and files through the guard of the workspace.
import { builtInCatalogue } from "../../../core/models/catalogue.ts";
import { listShortNames } from "../../../core/models/short-names.ts";
import { ToolError } from "../../../core/tools/tool.ts";
import type { ScopedFiles } from "../../../edge/files/guard/scoped-files.ts";
import { slashSpecs } from "../slash/slash-words.ts";
import type { Editor } from "../terminal/line-editor.ts";
import { complete, readToComplete, type Completion } from "./complete.ts";

export async function findCompletion(
  { text, cursor }: Pick<Editor, "text" | "cursor">,
  files: () => Promise<ScopedFiles>,
): Promise<Completion> {
  const wanted = readToComplete(text, cursor);
  switch (wanted.kind) {
    case "command":
      return complete(
        wanted.word,
        slashSpecs.map(({ name }) => name),
      );
    case "model":
      return complete(wanted.word, modelNames());
    case "file":
      return complete(wanted.word, await namesIn(await files(), wanted.folder, wanted.word));
    case "nothing":
      return { text: "", hint: "" };
  }
}

function modelNames(): readonly string[] {
  const { ids, factsOf } = builtInCatalogue;
  return [
    ...listShortNames().keys(),
    ...ids.filter((id) => factsOf(id).lifecycle.status === "active"),
  ];
}

/** Folders end with a slash. Hidden names only where one is being typed; none for a folder that may not be read. */
async function namesIn(
  files: ScopedFiles,
  folder: string,
  word: string,
): Promise<readonly string[]> {
  try {
    const entries = await files.list(folder === "" ? "." : folder);
    return entries
      .filter(
        ({ name, kind }) => kind !== "other" && (word.startsWith(".") || !name.startsWith(".")),
      )
      .filter(({ name }) => !/[\s\p{Cc}]/u.test(name))
      .map(({ name, kind }) => (kind === "folder" ? `${name}/` : name));
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}
