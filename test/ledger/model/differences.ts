// Where the ledger and the model disagree, in words.
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { wordsOf } from "../test-kit.ts";
import { pathTo, threadTo, type ModelSession, type ModelTurn } from "./ledger-model.ts";
import type { Run } from "./run.ts";

export async function differencesIn({ model, ledger }: Run): Promise<readonly string[]> {
  const found: string[] = [];
  const compare = (what: string, got: unknown, want: unknown): void => {
    const [left, right] = [spell(got), spell(want)];
    if (left !== right) found.push(`${what} is ${left} in the ledger and ${right} in the model`);
  };
  const listed = await ledger.listSessions({ status: "all" });
  compare("the list", listed.map(({ id }) => id).toSorted(), [...model.sessions.keys()].toSorted());
  for (const session of model.sessions.values()) {
    const { id } = session;
    const record = listed.find((each) => each.id === id);
    compare(
      `session ${id}`,
      [
        record?.headTurnId,
        record?.openTurnId,
        record?.turnCount,
        record?.costPicoUsd,
        record?.status,
      ],
      [
        session.headId,
        session.openId,
        session.turnCount,
        session.cost,
        session.isArchived ? "archived" : "active",
      ],
    );
    const moves = await ledger.pointerHistory(id);
    compare(
      `the history of ${id}`,
      moves.map(({ turnId, reason }) => turnId ?? reason),
      session.moves,
    );
    for (const whole of [false, true]) {
      const texts: string[] = [];
      for await (const { message } of ledger.readThread({ sessionId: id }, { whole })) {
        texts.push(wordsOf(message));
      }
      compare(`the thread of ${id}`, texts, threadTo(model, session.headId, whole));
    }
    if (session.openId !== null) {
      const texts: string[] = [];
      for await (const { message } of ledger.readThread({ turnId: session.openId })) {
        texts.push(wordsOf(message));
      }
      compare(`the open turn of ${id}`, texts, threadTo(model, session.openId, false));
    }
    const open = session.openId === null ? undefined : model.turns.get(session.openId);
    if (open !== undefined) found.push(...(await differencesInTurn(ledger, open)));
  }
  return found;
}

async function differencesInTurn(ledger: Ledger, turn: ModelTurn): Promise<readonly string[]> {
  const record = await ledger.findTurn(turn.id);
  const tools = await ledger.readToolCalls(turn.id);
  const messages = await ledger.readMessages(turn.id);
  const got = spell([
    record?.status,
    record?.parentTurnId,
    record?.callCount,
    record?.costPicoUsd,
    tools.map(({ toolUseId, status }) => `${toolUseId} ${status}`).toSorted(),
    messages.map(({ message, isReplayed }) => `${wordsOf(message)} ${isReplayed}`),
  ]);
  const want = spell([
    turn.status,
    turn.parentId,
    turn.callCount,
    turn.cost,
    turn.tools.map(({ id, status }) => `${id} ${status}`).toSorted(),
    turn.messages.map(({ text, isReplayed }) => `${text} ${isReplayed}`),
  ]);
  return got === want ? [] : [`turn ${turn.id} is ${got} in the ledger and ${want} in the model`];
}

/** Every turn there ever was, and what the ledger says about itself. */
export async function differencesAtEnd({ model, ledger, gone }: Run): Promise<readonly string[]> {
  const found: string[] = [];
  for (const turn of model.turns.values()) found.push(...(await differencesInTurn(ledger, turn)));
  for (const id of gone) {
    if ((await ledger.findTurn(id)) !== null) found.push(`turn ${id} was deleted and is there`);
  }
  for (const { id, headId } of model.sessions.values()) {
    const turns: string[] = [];
    for await (const turn of ledger.readTurns({ sessionId: id })) turns.push(turn.id);
    const path = pathTo(model, headId).map((turn) => turn.id);
    if (spell(turns) !== spell(path))
      found.push(`the turns of ${id} are ${spell(turns)}, not ${spell(path)}`);
  }
  for (const session of model.sessions.values()) {
    found.push(...(await differencesInHistory({ model, ledger }, session)));
  }
  for await (const problem of ledger.check()) found.push(problem);
  return found;
}

/** What compactions hide is what the whole thread has more than what is shown. */
async function differencesInHistory(
  { model, ledger }: Pick<Run, "model" | "ledger">,
  { id, openId, headId }: ModelSession,
): Promise<readonly string[]> {
  const end = openId ?? headId;
  const whole = threadTo(model, end, true).length;
  const isCompacted = pathTo(model, end).some(({ compaction }) => compaction !== null);
  const shown = threadTo(model, end, false).length - (isCompacted ? 1 : 0);
  const { messages } = await ledger.searchHistory({ sessionId: id, text: "question answer read" });
  const page = await ledger.readHistory({ sessionId: id, from: 1, through: 1000 });
  const got = spell([messages, page.messages.length]);
  const want = spell([whole - shown, whole]);
  return got === want ? [] : [`${id} hides and holds ${got} messages, and ${want} in the model`];
}

function spell(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}
