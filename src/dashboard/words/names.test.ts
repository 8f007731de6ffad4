import { expect, test } from "vitest";
import { nameChild, nameSession } from "./names.ts";

const id = "c703704c-9153-46d1-bddb-2bb1ad62e7a7";

test("a session has its program's name for it, or the program's own and the beginning of its id", () => {
  const named = { session: id, agent: "claude-code", client_session: "refactor-billing" };
  expect(nameSession(named)).toBe("refactor-billing");
  expect(nameSession({ ...named, parent_session: "another" })).toBe(
    "refactor-billing, sub-agent c703704c",
  );
  expect(nameSession({ ...named, client_session: id })).toBe("claude-code c703704c");
  expect(nameSession({ session: "build", agent: "coder" })).toBe("build");
  expect(nameChild({ kind: "worker", session: id })).toBe("sub-agent c703704c");
});
