// Members of tenants, found by their signs. A lookup in one tenant never finds a member of another.

export interface Tenants<Member> {
  put(tenant: string, member: Member, signs: readonly string[]): void;
  remove(tenant: string, member: Member): void;
  with(tenant: string, sign: string): readonly Member[];
  latestOf(tenant: string): readonly Member[];
}

export function createTenants<Member>(): Tenants<Member> {
  const tenants = new Map<string, Groups<Member>>();
  return {
    put: (tenant, member, signs) => {
      const groups = tenants.get(tenant) ?? createGroups<Member>();
      tenants.set(tenant, groups);
      groups.put(member, signs);
    },
    remove: (tenant, member) => {
      const groups = tenants.get(tenant);
      groups?.remove(member);
      if (groups?.isEmpty === true) tenants.delete(tenant);
    },
    with: (tenant, sign) => tenants.get(tenant)?.with(sign) ?? [],
    latestOf: (tenant) => tenants.get(tenant)?.latest ?? [],
  };
}

interface Groups<Member> {
  /** Makes it the latest member, with these signs and no others. */
  put(member: Member, signs: readonly string[]): void;
  remove(member: Member): void;
  with(sign: string): readonly Member[];
  /** The latest first, and no more than are worth looking at. */
  readonly latest: readonly Member[];
  readonly isEmpty: boolean;
}

const latestMax = 64;

function createGroups<Member>(): Groups<Member> {
  const groups = new Map<string, Set<Member>>();
  const signsOf = new Map<Member, readonly string[]>();
  let latest: readonly Member[] = [];
  const leave = (signs: readonly string[], member: Member): void => {
    for (const sign of signs) {
      const group = groups.get(sign);
      group?.delete(member);
      if (group?.size === 0) groups.delete(sign);
    }
  };
  return {
    put: (member, signs) => {
      if (latest[0] !== member) {
        latest = [member, ...latest.filter((each) => each !== member)].slice(0, latestMax);
      }
      const before = signsOf.get(member) ?? [];
      if (before.length === signs.length && signs.every((sign, at) => sign === before[at])) return;
      leave(before, member);
      for (const sign of signs) {
        const group = groups.get(sign) ?? new Set();
        groups.set(sign, group.add(member));
      }
      signsOf.set(member, signs);
    },
    remove: (member) => {
      leave(signsOf.get(member) ?? [], member);
      signsOf.delete(member);
      latest = latest.filter((each) => each !== member);
    },
    with: (sign) => [...(groups.get(sign) ?? [])],
    get latest() {
      return latest;
    },
    get isEmpty() {
      return signsOf.size === 0;
    },
  };
}
