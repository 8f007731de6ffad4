// Text for agents that do not exist: the same every time, and as long as asked for.

const words =
  "account address amount batch branch buffer build cache call change check client column commit config count cursor " +
  "customer date default delete detail entry error event field file filter flag format function group handler header " +
  "index input invoice item job key label ledger level limit line list loader lock log map match merge message method " +
  "module name node number offset option order output page parser path payment plan pointer policy pool port price " +
  "queue range reader record region report request result retry role route row schema scope session signal size slot " +
  "source stage state status step store stream string sum table tag target task tax tenant test text token total trace " +
  "unit update user value version view window worker writer zone";

const vocabulary = words.split(" ");

/** About as many tokens as asked for. */
export function demoText(seed: number, tokenCount: number): string {
  let state = (seed * 2_654_435_761) % 4_294_967_296;
  const lines: string[] = [];
  let line = "";
  for (let count = 0; count < tokenCount; count += 1) {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    line += `${vocabulary[Math.floor((state / 4_294_967_296) * vocabulary.length)] ?? "row"} `;
    if (line.length > 80) {
      lines.push(line.trimEnd());
      line = "";
    }
  }
  return [...lines, line.trimEnd()].join("\n");
}
