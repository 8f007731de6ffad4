// Goal: a request goes where its protocol says, on every provider.
import { expect, test } from "vitest";
import { options, send, small, wires } from "./test-kit.ts";

test.each(Object.entries(wires))(
  "an encoded request carries its protocol's path on %s",
  (_name, wire) => {
    const { protocol, model } = wire;
    const { assembly, plan } = send("adaptive", small, wire);
    for (const stream of [true, false]) {
      const modelName = `${model.id}-here`;
      const call = { assembly, plan, model, options: { ...options, stream, modelName } };
      expect(protocol.encode(call).path).toBe(protocol.path({ model: modelName, stream }));
    }
  },
);
