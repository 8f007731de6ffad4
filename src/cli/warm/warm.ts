// strata warm: has the provider cache what the next session of an agent begins with.
import { lifetimes, type Lifetime } from "../../core/message/usage.ts";
import { formatUsdRounded } from "../../core/models/pico-usd.ts";
import { nearestNames } from "../../core/nearest-names.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { EngineSession } from "../../engine/session/engine-session.ts";
import type { Prewarmed } from "../../engine/warm/prewarm.ts";
import { formatCount } from "../../replay/format-figures.ts";
import { openChat } from "../chat/open-chat.ts";
import type { OpenedChat } from "../chat/run-chat.ts";
import { shortName } from "../sessions/name-session.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine, toPrintable } from "../ledger/render-ledger.ts";

export const run: CommandBody = async (input, io) => {
  const lifetime = readLifetime(input.values.get("for"));
  // As `strata chat` opens it: other tools would be another prefix.
  const opened = await openChat(input, io, "ask", {
    confirm: () => Promise.resolve(false),
    onNotice: (text) => io.error(`${text}\n`),
  });
  try {
    const session = await openWarm(opened, input.values.get("model"));
    const warmed = await session.prewarm(lifetime === null ? {} : { lifetime });
    const { isSimulated } = opened;
    const { id: sessionId, model } = session.session;
    const about = { sessionId, model: model.id, provider: model.provider, isSimulated };
    io.out(
      input.switches.has("json") ? toJsonLine({ ...about, ...warmed }) : render(about, warmed),
    );
    return warmed.isWarm ? 0 : 1;
  } finally {
    await opened.close();
  }
};

function openWarm(
  { engine, resumed }: OpenedChat,
  model: string | undefined,
): Promise<EngineSession> {
  if (resumed !== null) return engine.resume(resumed);
  return engine.open(model === undefined ? {} : { model });
}

function readLifetime(text: string | undefined): Lifetime | null {
  if (text === undefined) return null;
  const known = lifetimes.find((each) => each === text);
  if (known !== undefined) return known;
  const [near] = nearestNames(text, lifetimes, 1);
  throw new StrataError(
    "usage",
    `--for ${text} is no lifetime`,
    near === undefined ? `give one of ${lifetimes.join(", ")}` : `did you mean ${near}?`,
  );
}

interface About {
  readonly sessionId: string;
  readonly model: string;
  readonly isSimulated: boolean;
}

function render({ sessionId, model, isSimulated }: About, warmed: Prewarmed): string {
  const name = `${model}${isSimulated ? ", simulated" : ""}`;
  if (!warmed.isWarm) return `not warmed: ${toPrintable(warmed.reason)} (${name})\n`;
  const { readTokens, writtenTokens, costPicoUsd, untilMs } = warmed;
  const parts = [
    ...(writtenTokens > 0 || readTokens === 0
      ? [`wrote ${formatCount(writtenTokens, "token")}`]
      : []),
    ...(readTokens > 0 ? [`refreshed ${formatCount(readTokens, "token")}`] : []),
  ];
  const cost = costPicoUsd === null ? "an unknown price" : formatUsdRounded(costPicoUsd, 6);
  const until = new Date(untilMs).toISOString().replace(/\.\d+Z$/, "Z");
  return [
    `${name}: ${parts.join(", ")} for ${cost}; warm until ${until}`,
    `every session that begins alike reads it; this one: strata chat --resume ${shortName(sessionId)}`,
    "",
  ].join("\n");
}
