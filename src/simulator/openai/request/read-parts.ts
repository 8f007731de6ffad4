// Reads the content of messages and tool outputs: text, images, files, audio, and breakpoints on them.
import { invalid, missing, unknownParameter, wrongValue } from "../api-error.ts";
import { fields, find, pathOf, unfit, withoutKeys, type Place } from "./fields.ts";
import { readImageSize, type ImageSize } from "../../image-size.ts";
import type { Marker, Part } from "./items.ts";
import { compactJson } from "../../json-source.ts";

/** An API's names for parts. All parts except the model's own can carry a breakpoint. */
export type Spelling = Readonly<Record<string, PartKind>>;

type PartKind = "text" | "model's text" | "refusal" | "image" | "file" | "audio";

/** How a client marks a part, and the member that it uses for that. */
export interface MarkerReader {
  readonly key: string;
  /** Null if the model takes none, and the server does not mind. */
  readonly read: (marker: Place) => Marker | null;
}

export const ownMarkers: MarkerReader = { key: "prompt_cache_breakpoint", read: readBreakpoint };

/** A string is one text part. */
export function readParts(
  place: Place,
  key: string,
  spelling: Spelling,
  markers: MarkerReader = ownMarkers,
): readonly Part[] {
  const value = find(place, key);
  if (value === null) throw missing(pathOf(place, key));
  if (value.kind === "string") return [{ kind: "text", text: value.text, marker: null }];
  if (value.kind !== "list") throw unfit(place, key, "one of a string or array of objects", value);
  return (fields.findPlaces(place, key) ?? []).map((part) => readPart(part, spelling, markers));
}

function readPart(place: Place, spelling: Spelling, markers: MarkerReader): Part {
  const type = fields.textAt(place, "type");
  const kind = spelling[type];
  if (kind === undefined) throw wrongValue(pathOf(place, "type"), type, Object.keys(spelling));
  const isModels = kind === "model's text" || kind === "refusal";
  const marked = fields.findPlace(place, markers.key);
  const marker = marked === null ? null : markers.read(marked);
  if (marker !== null && isModels) throw unknownParameter(marker.path);
  switch (kind) {
    case "text":
    case "model's text": {
      const text = fields.textAt(place, "text");
      // The wording is unverified; the documents say that empty text cannot carry a breakpoint.
      if (marker !== null && text === "") {
        throw invalid(`Invalid '${marker.path}': the text is empty.`, marker.path, "invalid_value");
      }
      return { kind: "text", text, marker };
    }
    case "refusal":
      return { kind: "text", text: fields.textAt(place, "refusal"), marker };
    case "image":
      return readImage(place, marker);
    case "file":
      return readFile(place, marker);
    case "audio":
      return readAudio(place, marker);
  }
}

function readBreakpoint(breakpoint: Place): Marker {
  fields.textAt(breakpoint, "mode");
  fields.findOneOf(breakpoint, "mode", ["explicit"]);
  return { lifetime: fields.findOneOf(breakpoint, "ttl", ["30m", "12h"]), path: breakpoint.path };
}

/** Chat nests the URL in an object, Responses does not. */
function readImage(place: Place, marker: Marker | null): Part {
  const nested =
    find(place, "image_url")?.kind === "object" ? fields.findPlace(place, "image_url") : null;
  const url = nested === null ? fields.findText(place, "image_url") : fields.textAt(nested, "url");
  const id = fields.findText(place, "file_id");
  if (url === null && id === null) throw missing(pathOf(place, "image_url"));
  const detail = fields.findText(nested ?? place, "detail") ?? "auto";
  const size = detail === "low" ? { width: 512, height: 512 } : imageSize(url ?? "");
  return { kind: "image", source: sourceOf(place), size, marker };
}

/** Width and height of an image in a data URL; null without image data or for an unknown format. */
export function imageSize(url: string): ImageSize | null {
  const head = /^data:image\/[\w.+-]+;base64,/.exec(url)?.[0];
  return head === undefined ? null : readImageSize(url.slice(head.length));
}

/** Files are not opened: their length is converted to pages. */
const fileBytesPerPage = 50_000;
const fileTokensPerPage = 1_500;

function readFile(place: Place, marker: Marker | null): Part {
  const file = fields.findPlace(place, "file") ?? place;
  const data = fields.findText(file, "file_data") ?? "";
  const where = fields.findText(file, "file_id") ?? fields.findText(file, "file_url") ?? "";
  if (data === "" && where === "") throw missing(pathOf(file, "file_data"));
  const pages = Math.max(1, Math.round(base64Bytes(data) / fileBytesPerPage));
  return { kind: "file", source: sourceOf(place), tokens: pages * fileTokensPerPage, marker };
}

/** Ten tokens per second of uncompressed speech. */
const audioBytesPerToken = 3_200;

function readAudio(place: Place, marker: Marker | null): Part {
  const audio = fields.findPlace(place, "input_audio") ?? place;
  const data = fields.textAt(audio, "data");
  const tokens = Math.ceil(base64Bytes(data) / audioBytesPerToken);
  return { kind: "audio", source: sourceOf(place), tokens, marker };
}

function sourceOf({ object }: Place): string {
  return compactJson(withoutKeys(object, ["prompt_cache_breakpoint", "cache_control"]));
}

function base64Bytes(data: string): number {
  return Math.floor(((data.length - data.indexOf(",") - 1) * 3) / 4);
}
