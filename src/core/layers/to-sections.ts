// Everything known at session start → sections, slowest-changing first.
import type { AgentRole } from "../message/assembled-context.ts";
import { StrataError } from "../strata-error.ts";
import { describePeers, type AgentProfile } from "./agent-profile.ts";
import { memorySections, type MemoryTexts } from "./memory-sections.ts";
import { roleRules } from "./roles.ts";
import { hasText, type Section } from "./section.ts";

/** A missing or blank part has no section. */
export interface ContextParts extends Pick<
  AgentProfile,
  "roleRules" | "peers" | "bindingPrompt" | "language" | "guidance" | "blocks"
> {
  /** The role whose rules are part of the prompt, unless `roleRules` is false. None by default. */
  readonly role?: AgentRole;
  /** What the application says before everything else. */
  readonly system?: string | null;
  /** AGENTS.md, or what the host puts first. Used verbatim. */
  readonly workspaceRules?: string | null;
  readonly userIdentity?: string | null;
  /** A worker gets its manager's persona. */
  readonly persona?: AgentProfile["persona"];
  readonly permissions?: readonly string[];
  /** From describeEnvironment. A worker gets the part its task needs, with the task. */
  readonly environment?: string | null;
  /** What `guidance` has for the model of this prompt. */
  readonly modelGuidance?: string | null;
  readonly skillIndex?: string | null;
  readonly runtime?: { readonly host: string; readonly os: string; readonly arch: string };
  /** The session's first day, as 2026-11-15. */
  readonly date?: string | null;
  readonly contextFiles?: readonly ContextFile[];
  readonly memory?: MemoryTexts;
  /** The text of a memory outside the workspace. */
  readonly externalMemory?: string | null;
}

/** What the section is called, in notes about a session and in `/context`. */
export const roleRulesName = "role rules";

export interface ContextFile {
  readonly path: string;
  readonly text: string;
}

/** Static sections, then session sections. Leaves out blank ones. */
export function toSections(parts: ContextParts): Section[] {
  return [...staticSections(parts), ...sessionSections(parts)].filter(hasText);
}

/** The same in every session on any machine: no time, no ids, no host details. */
function staticSections(parts: ContextParts): Section[] {
  const { role, persona = {} } = parts;
  const hasRules = role !== undefined && parts.roleRules !== false;
  // Workers of different tasks share a prefix only if it contains nothing about the task.
  const environment = role === "worker" ? null : parts.environment;
  return [
    toStatic("system prompt", "persona", parts.system),
    ...(parts.blocks ?? []).map(({ label, text, lifetime = null }) => ({
      ...toStatic(label, "persona", text),
      ...(lifetime === null ? {} : { lifetime }),
    })),
    toStatic("workspace rules", "workspace", parts.workspaceRules),
    toStatic("user identity", "persona", underHeading("User identity", parts.userIdentity)),
    toStatic("identity", "persona", persona.identity),
    toStatic("soul", "persona", persona.soul),
    toStatic("permissions", "persona", describePermissions(parts.permissions ?? [])),
    toStatic("environment", "workspace", environment),
    toStatic("model guidance", "persona", parts.modelGuidance),
    toStatic("skills", "workspace", parts.skillIndex),
    toStatic(roleRulesName, "persona", hasRules ? roleRules(role) : null),
  ];
}

function sessionSections(parts: ContextParts): Section[] {
  const { runtime, date, contextFiles = [], memory } = parts;
  // A worker reports to its manager; it does not talk with people.
  const { peers = {}, bindingPrompt = "" } = parts.role === "worker" ? {} : parts;
  return [
    toSession("peers", underHeading("Peers", describePeers(peers))),
    toSession("binding prompt", bindingPrompt.trim()),
    toSession("language", describeLanguage(parts.language)),
    toSession("runtime", runtime === undefined ? null : describeRuntime(runtime)),
    toSession("date", describeDate(date ?? "")),
    ...contextFiles.map(({ path, text }) => toSession(`file ${path}`, underHeading(path, text))),
    ...(memory === undefined ? [] : memorySections(memory, "session")),
    {
      ...toSession("external memory", underHeading("External memory", parts.externalMemory)),
      layer: "memory",
    },
  ];
}

function describeLanguage(language = ""): string {
  const name = language.trim();
  return name === "" ? "" : `Answer in this language: ${name}.`;
}

function toStatic(name: string, layer: Section["layer"], text: string | null | undefined): Section {
  return { name, layer, stability: "static", text: text?.trim() ?? "" };
}

function toSession(name: string, text: string | null): Section {
  return { name, layer: "session", stability: "session", text: text ?? "" };
}

function underHeading(heading: string, text: string | null | undefined): string {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? "" : `## ${heading}\n\n${trimmed}`;
}

function describePermissions(permissions: readonly string[]): string {
  const names = [...new Set(permissions)].toSorted();
  return underHeading("Permissions", names.map((name) => `- ${name}`).join("\n"));
}

function describeRuntime({ host, os, arch }: NonNullable<ContextParts["runtime"]>): string {
  const lines = [
    { label: "Host", value: host },
    { label: "Operating system", value: os },
    { label: "Architecture", value: arch },
  ].filter(({ value }) => value.trim() !== "");
  return underHeading(
    "Runtime",
    lines.map(({ label, value }) => `${label}: ${value.trim()}`).join("\n"),
  );
}

/** Refuses a time of day, which enters a prompt only through events. */
function describeDate(date: string): string {
  const day = date.trim();
  if (day === "") return "";
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) {
    throw new StrataError(
      "input-invalid",
      `the date of a session is "${date}", which is not a day`,
      "give it as 2026-11-15; the time of day comes with each event",
    );
  }
  return `This session started on ${day}.`;
}
