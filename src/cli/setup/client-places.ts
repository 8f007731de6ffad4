// What the setups of several clients need.

/** The gateway then goes where the client went before. */
export function toUpstream(vendor: string, theirs: unknown): string {
  return `It was ${JSON.stringify(theirs)}. If calls should go on there, say so in strata.yaml: gateway.upstreams.${vendor}.base_url.`;
}

/** The value of a variable; an empty one counts as none. */
export function given(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
