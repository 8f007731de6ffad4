// A page that is one file: its data stands in it.
import { render } from "preact";
import type { FileData } from "../../file/file-data.ts";
import { Inspected } from "./inspected.tsx";
import { Replayed } from "./replayed.tsx";

// Written by render-file.ts.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const data = JSON.parse(document.getElementById("strata-data")?.textContent ?? "null") as FileData;
const root = document.getElementById("app");
if (root !== null) {
  render(
    <>
      <header>
        <b>Strata</b>
        <span class="soft">{data.kind === "inspect" ? "one session" : "replay"}</span>
      </header>
      <main id="main">
        {data.kind === "inspect" ? <Inspected of={data} /> : <Replayed of={data} />}
      </main>
    </>,
    root,
  );
}
