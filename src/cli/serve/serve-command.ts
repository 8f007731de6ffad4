// The rows of the command table for the gateway.
import { json, type Command } from "../command.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Stand between agents and providers: forward every byte, and say what each call cost",
  options: {
    port: { value: "N", meaning: "port to listen at; default: 8787; 0: any free port" },
    host: {
      value: "NAME",
      meaning: "address to listen at; default: this machine only. Any other address needs a token",
    },
    upstream: {
      value: "NAME=URL",
      meaning: "a server behind /NAME; several with commas. A vendor's name replaces its address",
    },
    sim: { meaning: "the built-in simulator in place of every provider: no key, no network" },
    demo: {
      meaning:
        "play a day of simulated agents into a ledger of its own, and go on with them: to look at the dashboard",
    },
    "only-api": {
      meaning:
        "only answer questions about the ledger over HTTP (docs/http-api.md); forward nothing",
    },
    config: {
      value: "FILE",
      meaning: "use this file instead of the strata.yaml files Strata finds",
    },
    store: {
      value: "WHERE",
      meaning:
        "the ledger: a file or postgres://…; default: STRATA_STORE, then the configuration, then ledger.db in the data directory (simulated.db with --sim)",
    },
    record: {
      value: "DIR",
      meaning:
        "also keep requests and answers whole, with secrets taken out, in private files that strata replay reads",
    },
    optimize: {
      meaning:
        "place cache markers in requests where they are expected to cost less than the client's own; everything else stays to the byte",
    },
    install: {
      meaning:
        "write a user service (systemd, launchd) that runs this with the other options; it is shown first",
    },
    uninstall: { meaning: "remove the service that --install wrote" },
    quiet: { meaning: "print no line per call" },
    json: { meaning: "print one JSON value per line: first the address, then each call" },
  },
  examples: {
    "strata serve --demo": "a dashboard with something in it, offline, within seconds",
    "strata serve --sim": "try it offline: any client, any key",
    "strata serve": "the gateway for the agents of this machine; it prints what to set for each",
    "strata serve --only-api --store ledger.db":
      "the figures of a ledger for dashboards and scripts, without a gateway",
    "strata serve --port 9000 --install": "the same as a service of this user, at its own port",
    "strata serve --port 9000 --upstream house=https://llm.example.com/v1 --json":
      "with a server of your own behind /house, for a script",
  },
  load: () => import("./serve.ts"),
};

export const keysCommand: Command = {
  name: "keys new",
  summary:
    "Make a key for a client of the gateway: it is shown once, with its hash for strata.yaml",
  operands: [{ name: "NAME", meaning: "the client's name, for figures and errors" }],
  options: { json },
  examples: {
    "strata keys new ana": "a random key, and the lines for strata.yaml",
    "strata keys new ci --json": "the same for a script",
  },
  load: () => import("./keys-new.ts"),
};
