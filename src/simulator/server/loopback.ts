// Recognises this machine: the simulator talks to nothing else.

/** Takes a host as a URL spells it, without the port. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname === "[::1]" ||
    hostname === "::1" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** Pages of other sites may not use the simulator, even if the browser would send the request. */
export function isForeignOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url === null || !isLoopback(url.hostname);
}
