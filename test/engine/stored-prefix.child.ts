// A process that dies while it has a prefix stored: its arguments are the simulator's address, the ledger, the moment and the time.
import { gemini } from "../../src/core/wire/gemini/index.ts";
import { toEndpoint } from "../../src/core/wire/access.ts";
import { cheapCounter } from "../../src/core/tokens/cheap-counter.ts";
import { createProvider } from "../../src/edge/providers/provider.ts";
import { openLedger } from "../../src/edge/stores/open-ledger.ts";
import { createEngine } from "../../src/engine/session/create-engine.ts";
import { emptyWorld } from "../../src/engine/world/world.ts";

const [, , baseUrl = "", store = "", moment = "", nowMs = "0"] = process.argv;
const apiKey = process.env["PLANTED_KEY"] ?? "";
const endpoint = toEndpoint(gemini.access, { apiKey, baseUrl });
const connected = createProvider({ protocol: gemini, ...endpoint, retries: { attemptsMax: 1 } });
const now = (): number => Number(nowMs);
const ledger = await openLedger(store, { now });
const die = (): void => void process.kill(process.pid, "SIGKILL");
const engine = createEngine(
  {
    model: "gemini-3.8-flash",
    options: { stream: false },
    storedPrefix: { usdPerHour: 5 },
    pace: "tool loop",
  },
  {
    ledger,
    reach: () => ({
      protocol: gemini,
      provider: {
        send: async (call) => {
          const isCreation = call.request.path === "/v1beta/cachedContents";
          if (isCreation && moment === "before it is sent") die();
          const sent = await connected.send(call);
          if (isCreation) die();
          return sent;
        },
      },
    }),
    counter: cheapCounter,
    world: () =>
      Promise.resolve({
        ...emptyWorld,
        context: () =>
          Promise.resolve({
            parts: { system: "Answer briefly and check what you say. ".repeat(2000) },
          }),
      }),
    now,
  },
);
const session = await engine.session("s");
for (let turn = 0; turn < 3; turn += 1) await session.run("And now?").result;
// The work after the last turn ends this process.
setTimeout(() => process.exit(1), 20_000);
