// What a client needs so that it talks to the gateway: settings in its own files, and files that are ours alone.
import type { Io } from "../command.ts";
import type { TextFormat } from "./text/text-format.ts";

export interface SetupPlace {
  readonly home: string;
  readonly env: Io["env"];
  /** Of the gateway, without a slash at its end. */
  readonly url: string;
  /** The words that start Strata. */
  readonly program: readonly string[];
  /** A folder for files of ours that the client reads. */
  readonly ownFolder: string;
}

export interface ClientSetup {
  readonly name: string;
  readonly title: string;
  /** Where its settings are: one setup for each such folder. */
  readonly folder: (place: SetupPlace) => string;
  readonly plan: (place: SetupPlace) => SetupPlan;
}

export interface SetupPlan {
  readonly wishes: readonly Wish[];
  readonly ownFiles: readonly OwnFile[];
  /** What the user should know after it was written. */
  readonly notes: readonly string[];
}

export interface Wish {
  readonly file: string;
  readonly format: FormatName;
  readonly path: readonly string[];
  readonly value: unknown;
  /** A value of the user's stays; this says what that means. */
  readonly keepTheirs?: string;
  /** Said if another value is replaced. */
  readonly whenReplaced?: (theirs: unknown) => string;
  /** Refuses the setup if nothing stands at this path; this says what to do first. */
  readonly needs?: { readonly path: readonly string[]; readonly hint: string };
}

export type FormatName = "json" | "toml" | "env";

export type Formats = Readonly<Record<FormatName, TextFormat>>;

/** A file that nobody else writes. */
export interface OwnFile {
  readonly file: string;
  readonly text: string;
}
