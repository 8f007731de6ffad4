// A certificate of the test's own for localhost: the few fields of X.509 that TLS asks for, written as DER.
import { generateKeyPairSync, sign } from "node:crypto";

export interface SelfSigned {
  readonly cert: string;
  readonly key: string;
}

export function createSelfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const ecdsaWithSha256 = sequence(oid("06082a8648ce3d040302"));
  const name = sequence(
    tag(0x31, sequence(oid("0603550403"), tag(0x0c, Buffer.from("localhost")))),
  );
  const dayMs = 86_400_000;
  const validity = sequence(time(Date.now() - dayMs), time(Date.now() + 365 * dayMs));
  const names = sequence(
    tag(0x82, Buffer.from("localhost")),
    tag(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const isAuthority = sequence(tag(0x01, Buffer.from([0xff])));
  const extensions = sequence(
    sequence(oid("0603551d11"), tag(0x04, names)),
    sequence(oid("0603551d13"), tag(0x04, isAuthority)),
  );
  const toSign = sequence(
    tag(0xa0, tag(0x02, Buffer.from([2]))),
    tag(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tag(0xa3, extensions),
  );
  const signature = tag(
    0x03,
    Buffer.concat([Buffer.from([0]), sign("sha256", toSign, privateKey)]),
  );
  const der = sequence(toSign, ecdsaWithSha256, signature);
  const lines = der.toString("base64").replace(/(.{64})/g, "$1\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function tag(number: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 128
      ? [length]
      : length < 256
        ? [0x81, length]
        : [0x82, Math.floor(length / 256), length % 256];
  return Buffer.concat([Buffer.from([number, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts));
}

function oid(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, "");
  return tag(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}
