// POST /api/v1/messages of the router: Anthropic's API before the same hosts.
import { readJson } from "../json-source.ts";
import type { SimRequest, SimResponse, SurfaceContext } from "../surface.ts";
import { answerMessages, orRefuse, readVendorMessages } from "../vendors/answer-messages.ts";
import { assert } from "../../core/assert.ts";
import { chargeRouted, costMembers } from "./answer-chat.ts";
import { readHostWish } from "./choose-host.ts";
import type { Desk } from "./desk.ts";
import { refuseMessages } from "./errors.ts";
import { findRoutedModel } from "./hosts.ts";

export function answerRoutedMessages(
  sent: SimRequest,
  context: SurfaceContext,
  desk: Desk,
): SimResponse {
  return orRefuse(context, () => {
    const request = readVendorMessages(
      sent,
      (name) => findRoutedModel(name)?.facts ?? null,
      routerMembers,
    );
    const model = findRoutedModel(request.requestedModel);
    assert(model !== null, "the reader found the model");
    const { workspace } = context;
    const body = readJson(sent.bodyText);
    assert(body.kind === "object", "the reader read an object");
    const wish = readHostWish({ object: body, path: "" }, sent.headers, {
      workspace,
      model: model.facts.id,
    });
    const found = desk.findHost(model, wish, context);
    if ("refusal" in found) return refuseMessages(found.refusal, context);
    const { host } = found;
    const { response } = answerMessages(request, context, {
      keeping: model.keeping,
      host,
      splitIsLate: false,
      hidesCache: false,
      charge: (called) => {
        const charged = chargeRouted(called, host, context);
        desk.settle({ model, wish, host, ...charged }, context);
        return costMembers(charged.picoUsd);
      },
    });
    return response;
  });
}

/** What the router reads itself. */
const routerMembers = ["provider", "session_id", "models", "usage"];
