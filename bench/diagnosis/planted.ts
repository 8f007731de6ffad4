// Evictions and hidden changes planted in recorded sessions: which are blamed on the provider.
import {
  findCleanCalls,
  pickHiddenChange,
  plantAt,
  readTalks,
  type Plant,
  type PlantedCall,
  type RecordedTalk,
} from "../../harness/planted/planted-recordings.ts";
import { createRandom, type Random } from "../../harness/random-message.ts";
import { pickOne } from "../../harness/random/random-talk.ts";
import { atLeast, exactly, type Report } from "../../harness/report.ts";
import { loadO200k } from "../../src/core/tokens/o200k/counter.ts";
import { readRecordings } from "../../src/replay/readers/read-recordings.ts";

/** Breaks per kind and session. */
const plantsPerSession = 2;

export async function plantInRecordings(
  folder: string,
): Promise<Pick<Report, "figures" | "checks">> {
  const counter = await loadO200k();
  const talks = await readTalks(readRecordings([folder], { counter }));
  const random = createRandom(1);
  const [whole, inPart] = [openCounts(), openCounts()];
  let [clean, alarms] = [0, 0];
  for (const talk of talks) {
    const calls = await findCleanCalls(talk);
    clean += calls.clean.length;
    alarms += calls.unknown;
    for (const [isWhole, counts] of [
      [true, whole],
      [false, inPart],
    ] as const) {
      const session = { ...talk.session, isWhole };
      await plantAll({ ...talk, session }, calls.clean, random, counts);
    }
  }
  const within = inPart["eviction within a turn"];
  const evictions = [whole.eviction, whole["eviction of the tail"], inPart.eviction];
  return {
    figures: {
      "planted sessions": talks.length,
      "clean calls of planted sessions": clean,
      "planted evictions, requests recorded whole": whole.eviction.planted,
      "planted evictions, within a turn of a transcript": within.planted,
      "planted evictions, at a user turn of a transcript":
        inPart["eviction at a user turn"].planted,
      "planted evictions, at a user turn of a transcript, blamed on the provider": blamedShare(
        inPart["eviction at a user turn"],
      ),
      "planted hidden changes of the tail": inPart["hidden change"].planted,
      "planted evictions of the tail alone, in a transcript, blamed on the provider": blamedShare(
        inPart["eviction of the tail"],
      ),
    },
    checks: [
      atLeast(
        'planted evictions named "provider lost it"',
        blamedShare({
          planted: sumOf(evictions, "planted"),
          blamed: sumOf(evictions, "blamed"),
        }),
        0.95,
      ),
      exactly("calls without a plant that lost something unknown", alarms, 0),
      atLeast(
        "planted evictions blamed on the provider, recorded whole",
        blamedShare(whole.eviction),
        0.95,
      ),
      atLeast(
        "planted evictions of the tail blamed on the provider, recorded whole",
        blamedShare(whole["eviction of the tail"]),
        0.95,
      ),
      atLeast("planted evictions blamed on the provider, within a turn", blamedShare(within), 0.95),
      exactly(
        'planted hidden changes of the tail named "provider lost it"',
        inPart["hidden change"].planted === 0 ? null : inPart["hidden change"].blamed,
        0,
      ),
    ],
  };
}

interface Count {
  planted: number;
  blamed: number;
}

type Counts = Record<Plant["kind"] | "eviction within a turn" | "eviction at a user turn", Count>;

function openCounts(): Counts {
  return {
    eviction: openCount(),
    "eviction within a turn": openCount(),
    "eviction at a user turn": openCount(),
    "eviction of the tail": openCount(),
    "hidden change": openCount(),
  };
}

function openCount(): Count {
  return { planted: 0, blamed: 0 };
}

function sumOf(counts: readonly Count[], name: keyof Count): number {
  return counts.reduce((sum, count) => sum + count[name], 0);
}

/** Null if nothing was planted, which fails its check. */
function blamedShare({ planted, blamed }: Count): number | null {
  return planted === 0 ? null : blamed / planted;
}

async function plantAll(
  talk: RecordedTalk,
  clean: readonly number[],
  random: Random,
  counts: Counts,
): Promise<void> {
  if (clean.length === 0) return;
  for (const kind of ["eviction", "eviction of the tail", "hidden change"] as const) {
    for (let count = 0; count < plantsPerSession; count += 1) {
      const at = pickOne(random, clean);
      const plant = kind === "hidden change" ? pickHiddenChange(talk, at, random) : { kind };
      const call = plant === null ? null : await plantAt(talk, at, plant);
      if (call === null) continue;
      addTo(counts[kind], call);
      if (kind !== "eviction") continue;
      addTo(counts[call.isUserTurn ? "eviction at a user turn" : "eviction within a turn"], call);
    }
  }
}

function addTo(count: Count, { explained }: PlantedCall): void {
  count.planted += 1;
  if (explained.explanation.cause === "provider lost it") count.blamed += 1;
}
