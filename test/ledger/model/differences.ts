// Where the ledger and the model disagree, in words.
import type { Ledger } from "../../../src/core/ledger/ledger.ts";
import { told } from "../test-kit.ts";
import { pathTo, threadTo, type ModelTurn } from "./ledger-model.ts";
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
        texts.push(told(message));
      }
      compare(`the thread of ${id}`, texts, threadTo(model, session.headId, whole));
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
    messages.map(({ message, isReplayed }) => `${told(message)} ${isReplayed}`),
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
  for await (const problem of ledger.check()) found.push(problem);
  return found;
}

function spell(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "bigint" ? String(each) : each,
  );
}
