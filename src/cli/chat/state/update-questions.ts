// Tool confirmations → the next state. The full preview stands above its question.
import { isOpen, type ChatState, type Item, type Question } from "./state.ts";

export type QuestionEvent =
  | { readonly type: "asked"; readonly question: Question }
  | { readonly type: "ready"; readonly id: string }
  | { readonly type: "answered"; readonly id: string };

/** Asks one question at a time and shows its preview with it. */
export function updateQuestions(state: ChatState, event: QuestionEvent): ChatState {
  const questions = nextQuestions(state.questions, event);
  const [first] = questions;
  const isNew = first !== undefined && first.id !== state.questions[0]?.id;
  const items = isNew ? withPreview(state.items, first) : state.items;
  return { ...state, questions, items };
}

function nextQuestions(questions: readonly Question[], event: QuestionEvent): readonly Question[] {
  switch (event.type) {
    case "asked":
      return [...questions, event.question];
    case "ready":
      return questions.map((each) => (each.id === event.id ? { ...each, isReady: true } : each));
    case "answered":
      return questions.filter(({ id }) => id !== event.id);
  }
}

/** Inserts it before items that may still change, so that it is printed in full and never cut to the window. */
function withPreview(items: readonly Item[], question: Question): readonly Item[] {
  const { toolName, preview: lines } = question;
  const open = items.findIndex(isOpen);
  return items.toSpliced(open === -1 ? items.length : open, 0, {
    kind: "preview",
    toolName,
    lines,
  });
}
