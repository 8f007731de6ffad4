// Random conversations through every protocol and the simulator: nothing is lost or changed on the way there and back.
import { exactly, wholeNumber, UsageError, type Experiment } from "../harness/report.ts";
import { courseWires, runCourse, type CourseWire } from "../harness/wire-course.ts";

export const experiment: Experiment = {
  summary: "random conversations survive every protocol, and a stream says what a whole reply says",
  options: {
    count: "conversations per protocol, 100000 by default",
    seed: "where to start, 1 by default",
    protocol: "only this one",
  },
  async run(settings) {
    const count = wholeNumber(settings, "count", 100_000);
    const seed = wholeNumber(settings, "seed", 1);
    const { progress } = settings;
    const checks = [];
    for (const wire of chosen(settings.options["protocol"])) {
      const { name } = wire.protocol;
      let broken = 0;
      for (let index = 0; index < count; index += 1) {
        const faults = await runCourse(wire, seed + index);
        if (faults.length > 0) {
          broken += 1;
          if (broken <= 5) progress(`${name}, seed ${seed + index}: ${faults.join("\n")}`);
        }
        if ((index + 1) % 10_000 === 0) progress(`${name}: ${index + 1} of ${count}`);
      }
      checks.push(exactly(`${name}: conversations that lost something`, broken, 0));
    }
    return { figures: { "conversations per protocol": count, seed }, checks };
  },
};

function chosen(name: string | undefined): readonly CourseWire[] {
  const wires = courseWires.filter(({ protocol }) => name === undefined || protocol.name === name);
  if (wires.length > 0) return wires;
  const known = courseWires.map(({ protocol }) => protocol.name).join(", ");
  throw new UsageError(`--protocol is one of ${known}`);
}
