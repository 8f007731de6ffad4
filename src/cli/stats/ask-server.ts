// The same question to a running server, in the place of a ledger.
import { isAnalyticsErrorCode, refuse } from "../../analytics/analytics-error.ts";
import type { AnalysisName } from "../../analytics/analysis-names.ts";
import type { AnalyticsQuery } from "../../analytics/analysis.ts";
import type { Answer } from "../../analytics/ask-ledger.ts";
import type { ApiRoutes } from "../../api/client/answers.ts";
import { createClient, type ApiFailure } from "../../api/client/open-client.ts";
import { StrataError } from "../../core/strata-error.ts";
import type { Io } from "../command.ts";

/** The token is that of the environment: a command line can be seen by others. */
export async function askServer(
  address: string,
  name: AnalysisName,
  { groupBy, ...query }: AnalyticsQuery,
  { env }: Pick<Io, "env">,
): Promise<Answer> {
  const token = env["STRATA_GATEWAY_TOKEN"]?.trim() ?? "";
  const client = createClient({ url: toServerUrl(address), ...(token === "" ? {} : { token }) });
  const given = { ...query, ...(groupBy === undefined ? {} : { group_by: groupBy }) };
  // Words that a person typed: the server checks them as the ledger would.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const typed = given as object as ApiRoutes["cost"]["query"];
  const result = await client.ask(name, { query: typed });
  if (result.kind === "answer") return result.answer;
  throw toError(result.error);
}

/** The address given as `--url`, without a slash at its end. */
export function toServerUrl(address: string): string {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "") {
    return address.replace(/\/+$/, "");
  }
  throw new StrataError(
    "usage",
    "--url is not the address of a server",
    "give it as strata serve prints it, as http://127.0.0.1:8787; the token goes into STRATA_GATEWAY_TOKEN",
  );
}

function toError({ code, message, hint }: ApiFailure): StrataError {
  if (isAnalyticsErrorCode(code)) return refuse(code, message, hint);
  return code === "token_required"
    ? new StrataError(
        "config-invalid",
        message,
        "set STRATA_GATEWAY_TOKEN to the token of that server",
      )
    : new StrataError("environment-unfit", message, hint);
}
