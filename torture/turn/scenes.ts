// The scenes of the stages: their history recorded in a log, once for all courses.
import { toSession } from "../../src/core/session/to-session.ts";
import { appendMessages } from "../../src/core/assembly/thread.ts";
import { countedMessages } from "../../src/core/assembly/thread.ts";
import { openLog } from "./log.ts";
import type { Scene } from "./play.ts";
import { toStage, type StageName } from "./stages.ts";

const scenes = new Map<StageName, Scene>();

export function sceneOf(name: StageName): Scene {
  const scene = scenes.get(name) ?? makeScene(name);
  scenes.set(name, scene);
  return scene;
}

function makeScene(name: StageName): Scene {
  const { setup, turns } = toStage(name);
  let session = { ...toSession(setup), isRecorded: true, openedMs: 1_800_000_000_000 };
  const log = openLog();
  for (const [at, talk] of turns.entries()) {
    const id = `turn-${at + 1}`;
    const { length } = session.thread.messages;
    const thread = appendMessages(session.thread, talk);
    const startMs = 1_800_000_000_000 + at * 60_000;
    const messages = countedMessages(thread, length);
    log.openTurn({ id, parentTurnId: session.headTurnId, startMs, messages });
    log.close(id, { status: "completed", endMs: startMs });
    session = { ...session, thread, headTurnId: id };
  }
  return { session, log, turnCount: turns.length };
}
