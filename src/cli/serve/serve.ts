// strata serve: the gateway in the foreground, until it is stopped.
import { messageOf } from "../../core/strata-error.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";
import {
  isWorthALine,
  renderCall,
  renderExchange,
  toCallLine,
  toExchangeLine,
} from "./call-line.ts";
import { openOnlyApi, type Serving } from "./open-only-api.ts";
import { openServe } from "./open-serve.ts";
import { readServeFlags } from "./serve-flags.ts";
import { installService, uninstallService } from "./service.ts";
import { renderOnlyApi, renderWelcome } from "./welcome.ts";

export const run: CommandBody = async (input, io) => {
  const flags = readServeFlags(input);
  if (input.switches.has("uninstall")) return uninstallService(io);
  if (input.switches.has("install")) return installService(input, io);
  const onNotice = (text: string): void => io.error(`strata: ${text}\n`);
  const { lines } = flags;
  const print = lines === "json" ? jsonLines : peopleLines;
  const say = (line: string): void => {
    if (lines !== "none") io.out(line);
  };
  const open = flags.isOnlyApi ? openOnlyApi : openServe;
  const served: Serving = await open({
    flags,
    env: io.env,
    onNotice,
    onCall: (call) => say(print.call(call)),
    onExchange: (done) => {
      if (isWorthALine(done)) say(print.exchange(done));
    },
  });
  const { urls, port } = served.gateway;
  const [url = ""] = urls;
  io.out(
    flags.lines === "json"
      ? toJsonLine({ kind: "listening", url, urls, port, keys: served.keyNames })
      : flags.isOnlyApi
        ? renderOnlyApi({ ...served, url, urls })
        : renderWelcome({ ...served, url, urls }),
  );
  if (served.demo !== null) {
    onNotice("a day of simulated agents is played now");
    const played = served.demo.play(url);
    played.then(
      () => onNotice("the day is over; the agents go on at the pace of the wall"),
      (error: unknown) => onNotice(`the demo ended: ${messageOf(error)}`),
    );
  }
  const stop = await untilStopped(served, onNotice);
  onNotice("stopping: open streams may end; once more stops at once");
  await Promise.race([served.close("drained"), stop.again]);
  await served.close("at once");
  stop.forget();
  return 0;
};

const jsonLines = { call: toCallLine, exchange: toExchangeLine };
const peopleLines = { call: renderCall, exchange: renderExchange };

/** Files change rarely, and a check is one look at each. */
const lookEveryMs = 1000;

interface Stop {
  /** Resolves with the next signal. */
  readonly again: Promise<void>;
  /** Signals end the process again. */
  forget(): void;
}

/** Meanwhile the configuration is followed, and faults of our own are counted instead of ending the process. */
async function untilStopped(served: Serving, onNotice: (text: string) => void): Promise<Stop> {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isStopping = false;
  const onStop = (): void => {
    (isStopping ? second : first).resolve();
    isStopping = true;
  };
  const reload = (): void => {
    served.reload().catch((error: unknown) => {
      onNotice(`the configuration was not read again: ${messageOf(error)}`);
    });
  };
  const onFault = (error: unknown): void => served.gateway.noteFault(error);
  process.on("SIGINT", onStop).on("SIGTERM", onStop).on("SIGHUP", reload);
  process.on("uncaughtException", onFault).on("unhandledRejection", onFault);
  const timer = setInterval(reload, lookEveryMs);
  await first.promise;
  clearInterval(timer);
  return {
    again: second.promise,
    forget: () => {
      process.off("SIGINT", onStop).off("SIGTERM", onStop).off("SIGHUP", reload);
      process.off("uncaughtException", onFault).off("unhandledRejection", onFault);
    },
  };
}
