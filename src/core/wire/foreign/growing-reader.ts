// How a protocol reads a request piece by piece, so that what an earlier request of the conversation had is not read again.
import type { JsonNode, JsonObject } from "../../message/json-tree.ts";
import type { ModelFacts } from "../../models/model-facts.ts";
import type { BlockDraft, ReadShape } from "./foreign-request.ts";

type ModelAbilities = Pick<ModelFacts, "capabilities">;

/** `Frame`: what stands around the growing list. `Carried`: what later elements and the settings need of earlier elements. */
export interface GrowingReader<Frame extends ReadFrame = ReadFrame, Carried = unknown> {
  /** The member whose list grows from request to request. */
  readonly member: string;
  /** Its elements; a request may spell a single one without a list. May throw for a body that does not fit. */
  elementsOf(body: JsonObject): readonly JsonNode[];
  /** Everything but the elements. */
  readFrame(body: JsonObject, model: ModelAbilities | undefined): Frame;
  readonly start: Carried;
  readElement(
    element: JsonNode,
    index: number,
    before: ElementPlace<Frame, Carried>,
  ): ReadElement<Carried>;
  /** All but the drafts, when every element was read. */
  finish(frame: Frame, carried: Carried): Omit<ReadShape, "drafts">;
}

export interface ReadFrame {
  /** They stand before those of the elements. */
  readonly drafts: readonly BlockDraft[];
  /** Equal frames for the elements have equal texts. */
  readonly forElements: string;
}

export interface ElementPlace<Frame, Carried> {
  readonly frame: Frame;
  /** From the elements before. Compared by its members, so it is a flat object. */
  readonly carried: Carried;
}

export interface ReadElement<Carried = unknown> {
  readonly drafts: readonly BlockDraft[];
  readonly carried: Carried;
  /** Whether it reads differently with another frame. */
  readonly usesFrame: boolean;
  /** The drafts instead, once a later element closes it; absent if nothing later changes them. */
  readonly whenClosed?: readonly BlockDraft[];
  /** Closes the elements before it. */
  readonly closes: boolean;
}

/** Reads a whole body by its elements. */
export function readByElements(
  reader: GrowingReader,
  body: JsonObject,
  model: ModelAbilities | undefined,
): ReadShape {
  const frame = reader.readFrame(body, model);
  let carried = reader.start;
  const read = reader.elementsOf(body).map((element, index) => {
    const result = reader.readElement(element, index, { frame, carried });
    carried = result.carried;
    return result;
  });
  const closed = read.findLastIndex(({ closes }) => closes);
  const drafts = read.flatMap((element, index) => draftsOf(element, index < closed));
  return { ...reader.finish(frame, carried), drafts: [...frame.drafts, ...drafts] };
}

export function draftsOf(element: ReadElement, isClosed: boolean): readonly BlockDraft[] {
  return (isClosed ? element.whenClosed : undefined) ?? element.drafts;
}
