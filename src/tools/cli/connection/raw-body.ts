/** Parses the bodies of raw responses as JSON. */
import { parseJson } from '../../../api/json/portable-json.ts'
import type { TransportResponse } from '../../../client/requests/transport.ts'

export async function parseResponseBody<T>({ body }: TransportResponse): Promise<T> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return parseJson(Buffer.concat(chunks).toString('utf8')) as T
}
