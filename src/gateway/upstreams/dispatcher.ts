// Connections to upstreams: kept per origin, through a proxy where the environment names one.
import { Agent, EnvHttpProxyAgent, Pool } from "undici";
import type { Environment } from "../../core/config/environment.ts";
import { groupRepeated } from "../forward/pass-headers.ts";
import type { UpstreamDispatcher } from "../forward/forward-exchange.ts";

export interface OpenDispatcher extends UpstreamDispatcher {
  /** Ends every connection immediately. */
  destroy(): Promise<void>;
}

export interface DispatcherOptions {
  readonly env: Environment;
  readonly connectMsMax: number;
}

/** Proxies are for other machines. */
const neverProxied = "localhost,127.0.0.1,[::1]";

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case. Certificates are Node's, with NODE_EXTRA_CA_CERTS. */
export function openDispatcher({ env, connectMsMax }: DispatcherOptions): OpenDispatcher {
  const shared = {
    connect: { timeout: connectMsMax },
    // A lost connection must lose one exchange, not all of them.
    allowH2: false,
    // A little shorter than load balancers usually keep connections; a server's own hint wins.
    keepAliveTimeout: 30_000,
    maxHeaderSize: 65_536,
  };
  const read = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? "";
  const [httpProxy, httpsProxy] = [read("HTTP_PROXY"), read("HTTPS_PROXY")];
  if (httpProxy === "" && httpsProxy === "") {
    const agent = new Agent(shared);
    return {
      dispatch: (request, handler) => void agent.dispatch(request, handler),
      destroy: () => agent.destroy(),
    };
  }
  const noProxy = [read("NO_PROXY"), neverProxied].filter((each) => each !== "").join(",");
  const agent = new EnvHttpProxyAgent({
    ...shared,
    httpProxy,
    httpsProxy,
    noProxy,
    connectTimeout: connectMsMax,
    // Otherwise we would wait for a silent proxy as long as for a model.
    clientFactory: (origin, options) =>
      new Pool(origin, { ...options, headersTimeout: connectMsMax }),
  });
  return {
    dispatch: (request, handler) => {
      const headers = groupRepeated(request.headers);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library takes lists of values too
      agent.dispatch({ ...request, headers: headers as string[] }, handler);
    },
    destroy: () => agent.destroy(),
  };
}
