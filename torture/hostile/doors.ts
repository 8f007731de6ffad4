// All doors, with their share of 1,000,000 inputs. Each loads its part of the product when it is opened.
import type { Door } from "./door.ts";

export const doors: readonly Door[] = [
  {
    name: "configuration",
    quota: 130_000,
    open: async () => (await import("./doors/configuration.ts")).openTexts(),
  },
  {
    name: "configuration files",
    quota: 20_000,
    block: 1,
    open: async (folder) => (await import("./doors/configuration.ts")).openFiles(folder),
  },
  {
    name: "messages",
    quota: 130_000,
    open: async () => (await import("./doors/messages.ts")).open(),
  },
  {
    name: "requests",
    quota: 130_000,
    open: async () => (await import("./doors/requests.ts")).open(),
  },
  {
    name: "replies",
    quota: 110_000,
    open: async () => (await import("./doors/replies.ts")).openReplies(),
  },
  {
    name: "streams",
    quota: 100_000,
    open: async () => (await import("./doors/replies.ts")).openStreams(),
  },
  {
    name: "provider answers over HTTP",
    quota: 20_000,
    open: async () => (await import("./doors/provider-answers.ts")).open(),
  },
  {
    name: "transcripts",
    quota: 90_000,
    open: async () => (await import("./doors/transcripts.ts")).openLines(),
  },
  {
    name: "transcript files",
    quota: 20_000,
    block: 1,
    open: async (folder) => (await import("./doors/transcripts.ts")).openFiles(folder),
  },
  {
    name: "imports into SQLite",
    quota: 20_000,
    block: 20,
    open: async (folder) => (await import("./doors/imports.ts")).open(folder),
  },
  {
    name: "memory files",
    quota: 20_000,
    block: 20,
    open: async (folder) => (await import("./doors/memory.ts")).open(folder),
  },
  {
    name: "skills",
    quota: 60_000,
    open: async () => (await import("./doors/skills.ts")).openTexts(),
  },
  {
    name: "skill files",
    quota: 20_000,
    block: 20,
    open: async (folder) => (await import("./doors/skills.ts")).openFiles(folder),
  },
  {
    name: "tool paths",
    quota: 30_000,
    block: 20,
    open: async (folder) => (await import("./doors/tool-paths.ts")).open(folder),
  },
  {
    name: "simulator",
    quota: 60_000,
    block: 50,
    open: async () => (await import("./doors/simulator.ts")).openCalls(),
  },
  {
    name: "simulator over HTTP",
    quota: 20_000,
    block: 50,
    open: async () => (await import("./doors/simulator.ts")).openServer(),
  },
  {
    name: "gateway over HTTP",
    quota: 20_000,
    block: 50,
    open: async (folder) => (await import("./doors/gateway.ts")).openSocket(folder),
  },
];
