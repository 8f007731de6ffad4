// Which host answers: the client's wish first, then the host of the conversation, then any.
import { hashText, drawOf } from "../ids.ts";
import { compactJson } from "../json-source.ts";
import { fields, find, type Place } from "../openai/request/fields.ts";
import { hostFacts } from "./hosts.ts";

/** What the client says about hosts. */
export interface HostWish {
  readonly order: readonly string[];
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  readonly allowsFallbacks: boolean;
  /** The same for all requests of one conversation. */
  readonly conversation: string;
}

export interface HostChoice {
  /** The host that is asked first, and then the others. Empty if the wish leaves none. */
  readonly hosts: readonly string[];
}

export interface Router {
  choose(hosts: readonly string[], wish: HostWish, nowMs: number): HostChoice;
  /** After an answer: a conversation stays at its host once the cache was used there. */
  settle(wish: HostWish, host: string, usedCache: boolean, nowMs: number): void;
}

export interface RouterOptions {
  /** The same seed and requests give the same hosts. */
  readonly seed: number;
  readonly leavesSticky: number;
  readonly passesOver: number;
}

export function createRouter({ seed, leavesSticky, passesOver }: RouterOptions): Router {
  const homes = new Map<string, { readonly host: string; readonly usedMs: number }>();
  let asked = 0;
  const draw = (what: string): number => drawOf(`${seed}\n${asked}\n${what}`);
  const homeOf = ({ conversation }: HostWish, nowMs: number): string | null => {
    const home = homes.get(conversation);
    const isKnown = home !== undefined && nowMs - home.usedMs < hostFacts.stickySeconds * 1000;
    return isKnown ? home.host : null;
  };
  return {
    choose: (all, wish, nowMs) => {
      asked += 1;
      const open = all.filter((host) => isTaken(host, wish));
      const any = turnedBy(open, Math.floor(draw("any") * open.length));
      if (wish.order.length > 0) {
        const first = wish.order.flatMap((name) => open.filter((host) => isNamed(host, name)));
        const others = wish.allowsFallbacks ? any.filter((host) => !first.includes(host)) : [];
        const hosts = [...first, ...others];
        return {
          hosts: hosts.length > 1 && draw("busy") < passesOver ? turnedBy(hosts, 1) : hosts,
        };
      }
      const home = homeOf(wish, nowMs);
      const others = any.filter((host) => host !== home);
      if (home === null || !open.includes(home)) return { hosts: any };
      const isLeft = others.length > 0 && draw("leave") < leavesSticky;
      return { hosts: isLeft ? [...others, home] : [home, ...others] };
    },
    settle: (wish, host, usedCache, nowMs) => {
      if (wish.order.length > 0) return;
      const isHome = homeOf(wish, nowMs) === host;
      if (usedCache || isHome) homes.set(wish.conversation, { host, usedMs: nowMs });
    },
  };
}

function isTaken(host: string, { only, ignore }: HostWish): boolean {
  const isIn = (names: readonly string[]): boolean => names.some((name) => isNamed(host, name));
  return (only === null || isIn(only)) && !isIn(ignore);
}

/** By its name, or by its slug: `amazon-bedrock`. */
function isNamed(host: string, name: string): boolean {
  return slugOf(host) === slugOf(name);
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function turnedBy<Item>(items: readonly Item[], places: number): readonly Item[] {
  return [...items.slice(places), ...items.slice(0, places)];
}

/** The router's member `provider`, and what identifies a conversation: an id of the client's, or the first messages. */
export function readHostWish(
  body: Place,
  headers: ReadonlyMap<string, string>,
  whose: { readonly workspace: string; readonly model: string },
): HostWish {
  const wish = fields.findPlace(body, "provider");
  const names = (key: string): readonly string[] | null =>
    wish === null
      ? null
      : (fields.findList(wish, key)?.flatMap((json) => (json.kind === "string" ? json.text : [])) ??
        null);
  const session = fields.findText(body, "session_id") ?? headers.get("x-session-id");
  return {
    order: names("order") ?? [],
    only: names("only"),
    ignore: names("ignore") ?? [],
    allowsFallbacks: (wish && fields.findFlag(wish, "allow_fallbacks")) ?? true,
    conversation: hashText(whose.workspace, whose.model, session ?? firstMessages(body)),
  };
}

/** The first system message and the first other one. */
function firstMessages(body: Place): string {
  const messages = fields.findPlaces(body, "messages") ?? [];
  const own = find(body, "system");
  const firsts = [messages.find(isSystem), messages.find((message) => !isSystem(message))];
  return [
    ...(own === null ? [] : [compactJson(own)]),
    ...firsts.flatMap((message) => (message === undefined ? [] : [compactJson(message.object)])),
  ].join("\n");
}

function isSystem(message: Place): boolean {
  const role = fields.findText(message, "role");
  return role === "system" || role === "developer";
}
