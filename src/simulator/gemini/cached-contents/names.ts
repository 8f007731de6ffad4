// Names on Vertex: stored prefixes and models below their project, by its id or its number, and their location.
import { drawOf } from "../../ids.ts";
import type { SimRequest } from "../../surface.ts";
import { invalid, ownWording } from "../api-error.ts";

export function nameIn(request: SimRequest): string {
  return `${parentOf(request)}cachedContents/${request.params["id"] ?? ""}`;
}

/** Empty on the Gemini API; the project and the region on Vertex. */
export function parentOf({ params }: SimRequest): string {
  const { project, location } = params;
  return project === undefined
    ? ""
    : `projects/${projectNumber(project)}/locations/${location ?? ""}/`;
}

/** Twelve digits: clients may name a project by its id, and Google's own names have its number. */
export function projectNumber(project: string): string {
  if (/^\d+$/.test(project)) return project;
  return String(Math.floor((1 + 9 * drawOf(`project ${project}`)) * 1e11));
}

/** On Vertex a model is named in full here, in the project and the location of the path. */
export function checkModelName(model: string, request: SimRequest): void {
  const parent = parentOf(request);
  if (parent === "" || withNumber(model).startsWith(`${parent}publishers/google/models/`)) return;
  throw invalid(
    `The model must be named projects/PROJECT/locations/LOCATION/publishers/google/models/MODEL, in the project and the location of the cached content. ${ownWording}`,
  );
}

/** A name as Google writes it. */
export function withNumber(name: string): string {
  return name.replace(
    /^projects\/([^/]+)/,
    (_, project: string) => `projects/${projectNumber(project)}`,
  );
}
