import { expect, test } from "vitest";
import { findVendor } from "./protocols.ts";
import type { ListedVendor } from "./read-vendors.ts";
import { fillAddress, pathOfAddress } from "./vendor-address.ts";

function vendor(name: string): ListedVendor {
  const listed = findVendor(name)?.listed;
  if (listed === undefined || listed === null) throw new Error(`${name} is not listed`);
  return listed;
}

function address(name: string, kind: string, places: Readonly<Record<string, string>>): string {
  const listed = vendor(name);
  return fillAddress(listed, listed.addresses.get(kind) ?? "", new Map(Object.entries(places)));
}

test("Bedrock's host holds the region", () => {
  for (const kind of ["bedrock", "bedrock-invoke"]) {
    expect(address("bedrock", kind, { region: "eu-central-1" })).toBe(
      "https://bedrock-runtime.eu-central-1.amazonaws.com",
    );
  }
});

test.each([
  ["us-east5", "us-east5-aiplatform.googleapis.com"],
  ["global", "aiplatform.googleapis.com"],
  ["us", "aiplatform.us.rep.googleapis.com"],
  ["eu", "aiplatform.eu.rep.googleapis.com"],
])("Vertex in %s is at %s", (location, host) => {
  expect(address("vertex", "vertex-anthropic", { project: "p", location })).toBe(
    `https://${host}/v1/projects/p/locations/${location}/publishers/anthropic`,
  );
});

test("a place without a value is asked for, by its variable and its setting", () => {
  expect(() => address("bedrock", "bedrock", {})).toThrow(
    expect.objectContaining({
      code: "config-invalid",
      message: "the address of bedrock needs a region",
      hint: "set AWS_REGION, or providers.bedrock.places.region in your strata.yaml",
    }),
  );
});

test("all places without a value are asked for at once", () => {
  expect(() => address("vertex", "vertex-anthropic", {})).toThrow(
    expect.objectContaining({
      message: "the address of vertex needs a project and a location",
      hint: "set GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, or providers.vertex.places.project and providers.vertex.places.location in your strata.yaml",
    }),
  );
});

test("the path of an address is what stands after its host", () => {
  expect(pathOfAddress("https://{host}/v1/projects/{project}")).toBe("/v1/projects/{project}");
  expect(pathOfAddress("https://bedrock-runtime.{region}.amazonaws.com")).toBe("");
});
