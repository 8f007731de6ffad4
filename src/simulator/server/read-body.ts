// Reads a request's body as text, up to a limit that does not trust content-length.

/** Null if the body exceeds `bytesMax`. */
export async function readBody(request: Request, bytesMax: number): Promise<string | null> {
  if (Number(request.headers.get("content-length") ?? 0) > bytesMax) return null;
  if (request.body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}
