// The formats of settings files, by name.
import type { Formats } from "../client-setup.ts";
import { envText } from "./env-text.ts";
import { jsonText } from "./json-text.ts";
import { tomlText } from "./toml-text.ts";

export const formats: Formats = { json: jsonText, toml: tomlText, env: envText };
