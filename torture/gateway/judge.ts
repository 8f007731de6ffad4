// What a client must have seen: what the upstream said, or the upstream's failure, or a refusal of ours that says which.
import type { Heard, SeenAnswer } from "./client.ts";
import { brokenKinds, noAnswerKinds, type Plan, type UpstreamKind } from "./plan.ts";

/** A problem in words; null if all is well. */
export function judgeExchange(plan: Plan, second: Plan | null, heard: Heard): string | null {
  const problem = findProblem(plan, second, heard);
  if (problem === null) return null;
  const { number, client, upstream, planted } = plan;
  const seen = heard.answers.map(({ status, isWhole }) => `${status}${isWhole ? "" : " cut"}`);
  return `${number} (client ${client}, upstream ${upstream}, planted ${planted ?? "nothing"}): ${problem}; seen: ${seen.join(", ") || "nothing"}`;
}

function findProblem(plan: Plan, second: Plan | null, heard: Heard): string | null {
  const [answer, next] = heard.answers;
  if (heard.isHanging) return "the client waited in vain";
  if (plan.client === "leaves in the request") return null;
  if (plan.client === "half a body" || plan.client === "smuggles") {
    // Only an upstream that does not wait for a body can have answered.
    const isRefused = answer === undefined || answer.status >= 400;
    return isRefused ? null : "an answer to a request that is none";
  }
  if (plan.client === "leaves in the answer") {
    return answer === undefined ? null : judgeAnswer(plan, answer, true);
  }
  if (answer === undefined) return "no answer";
  const problem = judgeAnswer(plan, answer, plan.upstream === "stall");
  if (problem !== null || second === null || isIn(brokenKinds, plan.upstream)) return problem;
  return next === undefined ? "no answer to the second request" : judgeAnswer(second, next, false);
}

function judgeAnswer(plan: Plan, seen: SeenAnswer, isLeaving: boolean): string | null {
  const { upstream, planted, answer, cutAt } = plan;
  const own = seen.headers.get("x-strata-error");
  if (planted === "table") return own === "internal" ? null : "a fault of the table is not told";
  if (isIn(noAnswerKinds, upstream)) {
    const [code, status] =
      upstream === "silent" ? ["upstream_timeout", 504] : ["upstream_unreachable", 502];
    return own === code && seen.status === status && (seen.isWhole || isLeaving)
      ? null
      : "the upstream's failure is not told";
  }
  if (seen.status !== answer.status) return `not the status ${answer.status} of the upstream`;
  for (const [name, value] of answer.headers) {
    if (seen.headers.get(name) !== value) return `the header ${name} is otherwise`;
  }
  if (!answer.body.subarray(0, seen.body.length).equals(seen.body)) return "other bytes";
  if (isLeaving) return null;
  if (!isIn(brokenKinds, upstream)) {
    const isEqual = seen.isWhole && seen.body.length === answer.body.length;
    return isEqual ? null : "not the whole answer";
  }
  if (seen.isWhole) return "half an answer that looks whole";
  const came = Math.floor(answer.body.length * cutAt);
  return seen.body.length === came ? null : `${seen.body.length} of the ${came} bytes that came`;
}

function isIn(kinds: readonly UpstreamKind[], kind: UpstreamKind): boolean {
  return kinds.includes(kind);
}
