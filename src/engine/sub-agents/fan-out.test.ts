import { expect, test } from "vitest";
import { createFanOut } from "./fan-out.ts";

/** Lets everything happen that waits for nothing else. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test("who comes first goes at once, the others when its response has begun", async () => {
  const fanOut = createFanOut();
  const sent: string[] = [];
  const first = await fanOut.enter("rules");
  for (const name of ["b", "c"]) void fanOut.enter("rules").then(() => sent.push(name));
  await settle();
  expect(sent).toEqual([]);
  first.begun();
  await settle();
  expect(sent).toEqual(["b", "c"]);
});

test("where the first one comes to nothing, the next goes first and the others wait for it", async () => {
  const fanOut = createFanOut();
  const first = await fanOut.enter("rules");
  const second = fanOut.enter("rules");
  let isThirdSent = false;
  void fanOut.enter("rules").then(() => (isThirdSent = true));
  first.ended();
  const next = await second;
  await settle();
  expect(isThirdSent).toBe(false);
  next.begun();
  await settle();
  expect(isThirdSent).toBe(true);
});

test("another prefix waits for nobody, and neither does who comes after the response has begun", async () => {
  const fanOut = createFanOut();
  const first = await fanOut.enter("rules");
  const other = await fanOut.enter("other rules");
  first.begun();
  first.ended();
  const later = await fanOut.enter("rules");
  // What the first one says now is not about the later one.
  first.ended();
  let isSent = false;
  void fanOut.enter("rules").then(() => (isSent = true));
  await settle();
  expect(isSent).toBe(false);
  other.ended();
  later.begun();
  await settle();
  expect(isSent).toBe(true);
});

test("who waits is let go by its signal, also by one that was set before", async () => {
  const fanOut = createFanOut();
  await fanOut.enter("rules");
  const controller = new AbortController();
  const waiting = fanOut.enter("rules", controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ errorClass: "cancelled" });
  await expect(fanOut.enter("rules", controller.signal)).rejects.toThrow(
    "cancelled before it was sent",
  );
});
