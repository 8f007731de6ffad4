// Makes connections within our own time limit; closing the provider cancels them.
import { Socket } from "node:net";
import { buildConnector } from "undici";
import type { Clock } from "./clock.ts";

/** The code of the error for a connection that took too long. */
export const connectLimitCode = "STRATA_CONNECT_LIMIT";

export interface ConnectorOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  readonly closing: AbortSignal;
}

export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { limitMs, clock, closing } = options;
  const connect = buildConnector({
    // The client's own limit is coarse, and uses only the machine's clock.
    timeout: 0,
    // A lost connection must lose one call, not all of them.
    allowH2: false,
  });
  return (target, callback) => {
    let isDone = false;
    const finish = (...result: Parameters<buildConnector.Callback>): void => {
      if (isDone) return;
      isDone = true;
      cancel();
      closing.removeEventListener("abort", onClose);
      callback(...result);
    };
    const giveUp = (error: Error): void => {
      finish(error, null);
      if (socket instanceof Socket) socket.destroy();
    };
    const onClose = (): void => giveUp(new Error("closed"));
    closing.addEventListener("abort", onClose);
    const tooLate = Object.assign(new Error("no connection"), { code: connectLimitCode });
    const cancel = clock.after(limitMs, () => giveUp(tooLate));
    const socket: unknown = connect(target, finish);
  };
}
