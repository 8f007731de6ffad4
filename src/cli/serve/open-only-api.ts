// The API of a ledger that is there already, without a gateway: nothing is forwarded, observed or recorded.
import { isLoopback } from "../../api/access/check-headers.ts";
import { openApi } from "../../api/open-api.ts";
import { toCatalogueChanges } from "../../core/config/check-whole.ts";
import { messageOf, StrataError } from "../../core/strata-error.ts";
import { refuse } from "../../gateway/forward/refuse.ts";
import { openListener, usualLimits } from "../../gateway/listen/open-listener.ts";
import { followConfig } from "../../host/config/follow-config.ts";
import { withStore } from "../../host/ledger/open-ledger.ts";
import { refuseMissing } from "../../host/ledger/ledger-place.ts";
import { toUpstreamTable } from "../../gateway/upstreams/configured.ts";
import { createKnownKeys, readGatewayKeys } from "./read-keys.ts";
import {
  dashboardAt,
  findStore,
  readTls,
  readToken,
  withPage,
  type Served,
  type ServeOptions,
} from "./open-serve.ts";

/** A program that answers requests until it is closed. */
export interface Serving extends Omit<Served, "gateway"> {
  readonly gateway: Pick<Served["gateway"], "port" | "urls" | "noteFault">;
}

export async function openOnlyApi({ flags, env, onNotice }: ServeOptions): Promise<Serving> {
  const { configFile } = flags;
  const config = await followConfig({ workspace: process.cwd(), configFile, env, onNotice });
  const { gateway: settings, ledger } = config.now();
  const { limits, timeouts } = settings;
  const host = flags.host ?? settings.host;
  const token = readToken(env, settings.tokenFile);
  if (host !== null && !isLoopback(host) && token === null) throw needsToken(host);
  const store = findStore(env, flags, ledger.store);
  // Refuses a place without a ledger, and brings the schema of an older one up to date.
  await withStore(
    { env, store, onProblem: (problem) => onNotice(messageOf(problem)) },
    async () => {},
    refuseMissing,
  );
  const tls = readTls(settings.tls);
  const models = toCatalogueChanges(config.now());
  const { keyOf, use } = createKnownKeys();
  const { keys, upstreams } = settings;
  // Nothing is forwarded, so no upstream's key is needed.
  const table = toUpstreamTable(upstreams);
  use(readGatewayKeys({ keys, upstreams: new Map() }, { env, table, isSimulated: true }));
  const api = openApi({
    store,
    token,
    models,
    keyOf,
    isEncrypted: tls !== null,
    keepsUp: true,
    onProblem: onNotice,
  });
  const own = withPage(api);
  const listener = await openListener({
    host,
    port: flags.port ?? settings.port,
    tls,
    limits: { ...usualLimits, ...limits, ...timeouts },
    mayUpgrade: () => false,
    onRequest: (incoming, outgoing) => {
      if (own.takes(incoming.url ?? "")) return own.answer(incoming, outgoing);
      outgoing.shouldKeepAlive = false;
      refuse(outgoing, {
        status: 404,
        code: "no_upstream",
        message: "nothing is forwarded here: strata serve runs with --only-api",
      });
    },
    onUpgrade: (_incoming, socket) => void socket.destroy(),
  });
  return {
    gateway: {
      port: listener.port,
      urls: listener.urls,
      noteFault: (error) => onNotice(`a mistake of our own: ${messageOf(error)}`),
    },
    isSimulated: false,
    needsToken: token !== null,
    dashboard: (url) => dashboardAt(url, token === null && keys.size === 0 ? null : api),
    demo: null,
    keyNames: [...keys.keys()],
    reload: () => Promise.resolve(),
    close: async (how) => {
      api.endStreams();
      await listener.close(how === "drained" ? timeouts.drainMs : 0);
      await api.close();
    },
  };
}

function needsToken(host: string): StrataError {
  return new StrataError(
    "config-invalid",
    `the API would listen at ${host}, where others reach it, and has no token`,
    "give gateway.token_file or STRATA_GATEWAY_TOKEN, or listen on this machine only",
  );
}
