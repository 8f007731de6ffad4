// `strata replay --html`: what recorded sessions cost, what they could have cost, and where the money went.
import type { JSX } from "preact";
import type {
  ReplayedCause,
  ReplayedDay,
  ReplayedFile,
  ReplayedPolicy,
  ReplayedSession,
} from "../../file/file-data.ts";
import { counted, dollars, share, tokens } from "../../words/figures.ts";
import { capital, clauseOf } from "../../words/causes.ts";
import { Card, Empty, Notes, Say } from "../app/answered.tsx";
import { choose, linkTo, place } from "../app/route.ts";
import { Table, type Column } from "../app/table.tsx";
import { moment } from "../app/times.ts";
import { CrossSection } from "../section/cross-section.tsx";
import { Breaks } from "../views/breaks.tsx";
import { Heavy } from "../views/heavy.tsx";
import { Choice } from "../views/window.tsx";
import { PolicyBars } from "./policy-bars.tsx";

export function Replayed({ of }: { readonly of: ReplayedFile }): JSX.Element {
  const { view, of: wanted } = place.value;
  const shown = view === "session" ? of.sessions.find(({ session }) => session === wanted) : null;
  if (shown !== null && shown !== undefined) return <OneRecorded key={shown.session} of={shown} />;
  const [first] = of.sessions;
  return (
    <>
      <SayReplay of={of} />
      {of.causes.length > 0 && (
        <Card title="Where money was lost, and what to do">
          <Causes of={of.causes} />
        </Card>
      )}
      <Card title="What each policy would have cost">
        <PolicyBars of={of} />
      </Card>
      {first !== undefined && first.pictures.length > 0 && <Dearest of={first} />}
      <Card title="Sessions, most money lost first">
        <Table
          label="sessions"
          rows={of.sessions}
          columns={sessionColumns}
          file="strata-replay-sessions.csv"
        />
        <LeftOut {...of.leftOut} />
      </Card>
      <div class="grid">
        {of.days.length > 0 && (
          <Card title="Days">
            <Table
              label="costs by day"
              rows={of.days}
              columns={dayColumns}
              file="strata-replay-days.csv"
            />
          </Card>
        )}
        <Card title="Why the cheapest policy misses">
          <Missed of={of.policies[0]} />
        </Card>
      </div>
      <Card title="Policies in figures">
        <Table
          label="policies"
          rows={of.policies}
          columns={policyColumns}
          file="strata-replay-policies.csv"
        />
        <Notes of={of.notes} />
      </Card>
    </>
  );
}

function SayReplay({ of }: { readonly of: ReplayedFile }): JSX.Element {
  const { limitUsd, limitWarmUsd, sessionCount, requestCount, headline } = of;
  return (
    <Say
      note={`${counted(sessionCount, "session")}, ${counted(requestCount, "request")}. The limit, ${dollars(limitUsd)}, is the least that these prompts can cost at these times${limitWarmUsd === null ? "" : `; with a cache that is kept warm, ${dollars(limitWarmUsd)}`}.`}
    >
      {headline}
    </Say>
  );
}

function Dearest({ of }: { readonly of: ReplayedSession }): JSX.Element {
  return (
    <Card
      title={
        of.lostUsd === null
          ? "The dearest session"
          : `The session that lost most: ${dollars(of.lostUsd)}`
      }
    >
      <p class="note">
        <a href={linkTo("session", of.session)}>{of.session}</a>, {counted(of.callCount, "call")}
      </p>
      <Recorded of={of} />
    </Card>
  );
}

function OneRecorded({ of }: { readonly of: ReplayedSession }): JSX.Element {
  const { paidUsd, wouldCostUsd, lostUsd, callCount, models, topCause } = of;
  return (
    <>
      <p>
        <a href={linkTo("now")}>← all sessions</a>
      </p>
      <Say
        note={`${of.session} · ${counted(callCount, "call")} · ${moment(of.startMs, Date.now())} · ${models.join(", ")}`}
      >
        {paidUsd === null ? (
          <>
            No bill of this session is recorded; the cheapest policy would have cost{" "}
            <b>{dollars(wouldCostUsd)}</b>.
          </>
        ) : (
          <>
            This session cost <b>{dollars(paidUsd)}</b>.{" "}
            {(lostUsd ?? 0) > 0 ? (
              <>
                <b>{dollars(lostUsd)}</b> of it was lost
                {topCause === null ? "" : `, most of it because ${clauseOf(topCause)}`}: it would
                have cost {dollars(wouldCostUsd)}.
              </>
            ) : (
              "Nothing was lost."
            )}
          </>
        )}
      </Say>
      <Card title="Cross-section: a column per call, the prompt from its first token (bottom) to its last (top)">
        <Recorded of={of} />
      </Card>
    </>
  );
}

/** The same calls as they were billed, or under a policy. */
function Recorded({ of }: { readonly of: ReplayedSession }): JSX.Element {
  const { pictures, callCount } = of;
  const wanted = place.value.choices.get("as");
  const shown = pictures.find(({ name }) => name === wanted) ?? pictures[0];
  if (shown === undefined) {
    return <Empty>There was no room for the calls of this session in this file.</Empty>;
  }
  const call = place.value.choices.get("call");
  const at = shown.calls.findIndex(({ number }) => String(number) === call);
  const onChoose = (column: number | null): void =>
    choose("call", column === null ? null : String(shown.calls[column]?.number ?? ""));
  return (
    <>
      <div class="choices">
        <Choice
          name="as"
          label="as"
          value={shown.name}
          options={pictures.map(({ name }) => [name, name] as const)}
        />
      </div>
      <CrossSection calls={shown.calls} chosen={at === -1 ? null : at} onChoose={onChoose} />
      {callCount > shown.calls.length && (
        <p class="note">{counted(callCount - shown.calls.length, "later call")} not in this file</p>
      )}
      <div class="grid">
        <div>
          <h3>Breaks</h3>
          <Breaks calls={shown.calls} onChoose={onChoose} />
        </div>
        <div>
          <h3>Carried longest</h3>
          <Heavy calls={shown.calls} />
        </div>
      </div>
    </>
  );
}

function LeftOut({ sessions, calls }: ReplayedFile["leftOut"]): JSX.Element | null {
  if (sessions + calls === 0) return null;
  return (
    <p class="note">
      To keep this file small, {counted(sessions, "session")} and {counted(calls, "call")} have no
      cross-section. The figures count all of them.
    </p>
  );
}

function Causes({ of }: { readonly of: readonly ReplayedCause[] }): JSX.Element {
  return (
    <ul class="plain">
      {of.map(
        ({ what, act, advice, lostUsd, callCount, tokens: lost, isInferred, session, call }) => (
          <li class="miss" key={what}>
            <span class="price">{dollars(lostUsd)}</span>
            <b>{capital(what)}</b>: {act}.{" "}
            <span>
              {counted(callCount, "call")}, {tokens(lost)}; first at call {call} of{" "}
              <a href={linkTo("session", session, { call: String(call) })}>{session}</a>
              {isInferred ? " (not in the recording: bills and replies say it)" : ""}. {advice}
            </span>
          </li>
        ),
      )}
    </ul>
  );
}

function Missed({ of }: { readonly of: ReplayedPolicy | undefined }): JSX.Element {
  if (of === undefined || of.misses.length === 0) return <Empty>It misses nothing.</Empty>;
  return (
    <ul class="plain">
      {of.misses.map(({ cause, count, tokens: lost, usd }) => (
        <li class="miss" key={cause}>
          <span class="price">{dollars(usd)}</span>
          <b>{clauseOf(cause)}</b>{" "}
          <span>
            {counted(count, "time")}: {tokens(lost)} paid again
          </span>
        </li>
      ))}
    </ul>
  );
}

const sessionColumns: readonly Column<ReplayedSession>[] = [
  {
    name: "session",
    value: ({ session }) => session,
    isWords: true,
    show: ({ session, pictures }) =>
      pictures.length === 0 ? session : <a href={linkTo("session", session)}>{session}</a>,
  },
  { name: "lost", value: (row) => row.lostUsd, show: (row) => dollarsOrDash(row.lostUsd) },
  {
    name: "most of it because",
    value: ({ topCause }) => topCause,
    isWords: true,
    show: ({ topCause }) => (topCause === null ? "–" : clauseOf(topCause)),
  },
  { name: "paid", value: (row) => row.paidUsd, show: (row) => dollarsOrDash(row.paidUsd) },
  {
    name: "would have cost",
    value: (row) => row.wouldCostUsd,
    show: (row) => dollars(row.wouldCostUsd),
  },
  { name: "calls", value: (row) => row.callCount },
  {
    name: "began",
    value: (row) => new Date(row.startMs).toISOString(),
    show: (row) => moment(row.startMs, Date.now()),
  },
];

function dollarsOrDash(usd: number | null): string {
  return usd === null ? "–" : dollars(usd);
}

const dayColumns: readonly Column<ReplayedDay>[] = [
  { name: "day (UTC)", value: ({ day }) => day, isWords: true },
  { name: "paid", value: (row) => row.paidUsd, show: (row) => dollars(row.paidUsd) },
  {
    name: "would have cost",
    value: (row) => row.wouldCostUsd,
    show: (row) => dollars(row.wouldCostUsd),
  },
  { name: "lost", value: (row) => row.lostUsd, show: (row) => dollars(row.lostUsd) },
];

const policyColumns: readonly Column<ReplayedPolicy>[] = [
  { name: "policy", value: ({ names }) => names.join(", "), isWords: true },
  { name: "dollars", value: ({ usd }) => usd, show: ({ usd }) => dollars(usd) },
  { name: "read from cache", value: (row) => row.hitRate, show: (row) => share(row.hitRate) },
  { name: "read", value: (row) => row.readTokens, show: (row) => tokens(row.readTokens) },
  { name: "written", value: (row) => row.writtenTokens, show: (row) => tokens(row.writtenTokens) },
  { name: "full price", value: (row) => row.freshTokens, show: (row) => tokens(row.freshTokens) },
  {
    name: "written in vain",
    value: (row) => row.wastedTokens,
    show: (row) => tokens(row.wastedTokens),
  },
];
