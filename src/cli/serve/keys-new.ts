// strata keys new: a fresh key for a client of the gateway, shown once, and its hash for strata.yaml.
import { StrataError } from "../../core/strata-error.ts";
import { hashKey, newGatewayKey } from "../../gateway/admission/gateway-key.ts";
import type { CommandBody } from "../command.ts";
import { toJsonLine } from "../ledger/render-ledger.ts";

export const run: CommandBody = async ({ operands, switches }, io) => {
  const [name = ""] = operands;
  if (!/^[^\p{Cc}\p{Zl}\p{Zp}]{1,128}$/u.test(name)) {
    throw new StrataError(
      "usage",
      "the name of a key is one line of at most 128 characters",
      "name the client, as strata keys new ana",
    );
  }
  const key = newGatewayKey();
  const sha256 = hashKey(key);
  io.out(switches.has("json") ? toJsonLine({ name, key, sha256 }) : render(name, key, sha256));
  return 0;
};

function render(name: string, key: string, sha256: string): string {
  return [
    key,
    "",
    "This is the only time that it is shown: give it to the client, in the place of the provider's key. In strata.yaml:",
    "",
    "gateway:",
    "  keys:",
    `    ${/^[a-z][\w-]*$/i.test(name) ? name : JSON.stringify(name)}:`,
    `      sha256: ${sha256}`,
    "",
  ].join("\n");
}
