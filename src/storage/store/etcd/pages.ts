/**
 * Reads a range of any size in pages of one snapshot. The size of a response is limited to a few megabytes. The number
 * of keys to request depends on the size of the previous entries. If a page is far too large, it is requested again in
 * parts. Smaller pages would be slower, because etcd traverses the index of the whole remaining range for each page.
 */
import { MessageTooLarge } from './grpc.ts'
import type { KeyValue, RangeRequest, RangeResponse } from './messages.ts'

export interface PagedRange {
  readonly key: Uint8Array
  readonly end: Uint8Array
  /** Maximum number of keys to read. Undefined means no limit. */
  readonly limit: number | undefined
  /** The etcd revision to read. If undefined, all pages are read at the revision that is current at the start. */
  readonly revision: number | undefined
}

export interface Pages {
  readonly revision: number
  readonly entries: readonly KeyValue[]
  /** Number of keys in the range that are not on this page. */
  readonly remaining: number
}

const firstPage = 128
const largestPage = 4096
const wantedBytes = 4 * 1024 * 1024

export async function readPages(
  { key, end, limit = Number.POSITIVE_INFINITY, revision }: PagedRange,
  read: (request: RangeRequest) => Promise<RangeResponse>,
): Promise<Pages> {
  if (limit <= 0) return countOnly({ key, end, limit, revision }, read)
  const entries: KeyValue[] = []
  let at = revision
  let start = key
  let page = firstPage
  for (;;) {
    const pageLimit = Math.min(page, limit - entries.length)
    const request = { key: start, end, limit: pageLimit, ...(at === undefined ? {} : { revision: at }) }
    const response = await read(request).catch(tooLarge)
    if (response === undefined && pageLimit > 1) {
      page = Math.max(1, Math.floor(pageLimit / 8))
      continue
    }
    if (response === undefined) throw new MessageTooLarge(wantedBytes)
    for (const entry of response.entries) entries.push(entry)
    at ??= response.revision
    const remaining = response.count - response.entries.length
    const last = response.entries.at(-1)
    if (remaining <= 0 || last === undefined || entries.length >= limit) {
      return { revision: at, entries, remaining: Math.max(0, remaining) }
    }
    start = Buffer.from(`${last.key}\0`)
    page = nextPage(response.entries, page)
  }
}

async function countOnly(
  { key, end, revision }: PagedRange,
  read: (request: RangeRequest) => Promise<RangeResponse>,
): Promise<Pages> {
  const request = { key, end, countOnly: true, ...(revision === undefined ? {} : { revision }) }
  const response = await read(request)
  return { revision: revision ?? response.revision, entries: [], remaining: response.count }
}

function tooLarge(error: unknown): undefined {
  if (error instanceof MessageTooLarge) return undefined
  throw error
}

/**
 * Returns the number of keys to request so that the response has the intended size. The number grows in steps because
 * the next keys may be larger.
 */
function nextPage(entries: readonly KeyValue[], page: number): number {
  let bytes = 0
  for (const entry of entries) bytes += entry.key.length + entry.value.length + 50
  const fitting = Math.floor((wantedBytes * entries.length) / bytes)
  return Math.max(1, Math.min(fitting, page * 8, largestPage))
}
