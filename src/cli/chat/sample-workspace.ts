// Sample files for a simulated agent.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export async function fillWorkspace(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(sampleFiles)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}

const sampleFiles: Readonly<Record<string, string>> = {
  "AGENTS.md":
    "# For agents\n\nLook before you answer. A new language comes with a test. Greetings stay on one line.\n",
  ".strata/MEMORY.md": "The tests run with npm test.\n",
  "README.md": "# Greeter\n\nSays hello in several languages. `npm test` runs the tests.\n",
  "src/greet.ts":
    'const greetings = { en: "Hello", de: "Hallo", fr: "Bonjour" };\n\n' +
    "export function greet(name: string, language: keyof typeof greetings): string {\n" +
    "  return `${greetings[language]}, ${name}!`;\n}\n",
  "src/greet.test.ts":
    'import { greet } from "./greet.ts";\n\n' +
    'test("greets in French", () => {\n  expect(greet("Ada", "fr")).toBe("Bonjour, Ada!");\n});\n',
  "notes/ideas.md": "- more languages\n- a greeting for the evening\n",
};
