// An experiment that starts PostgreSQL still ends with the status it was given.

/** The package that brings the server ends every process with 0 when nothing is left to do. */
export function keepExitStatus(): void {
  process.prependOnceListener("beforeExit", () => process.exit());
}
