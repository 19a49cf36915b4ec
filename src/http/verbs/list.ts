/** GET of a collection: the cached bytes of its objects, joined. */
import type { CachedObject } from '../../cache/cached-object.ts'
import { formatVersion } from '../../model/resource-version.ts'
import { jsonOf } from '../../registry/conversion.ts'
import { type ListPage, list } from '../../registry/list.ts'
import type { Resource } from '../../registry/resource.ts'
import type { Exchange } from '../exchange.ts'
import { readListQuery } from '../list-options.ts'
import type { Handler } from '../resource-request.ts'
import { type ChunkMemory, sendChunks } from '../responses.ts'

export const handleList: Handler = async (request) => {
  const { exchange, resource } = request
  const query = readListQuery(request)
  const page = await list(resource, query)
  warnOfUnreadable(exchange, resource, query.selection.namespace)
  const start = Buffer.from(head(resource, page))
  // What is left out of an object is longer than what stands between two.
  const size = page.objects.reduce(
    (sum, { json }) => sum + json.length,
    start.length + openBrace.length + closing.length,
  )
  await sendChunks(exchange, (memory) => listJson(resource, { start, objects: page.objects }, memory), size)
}

const toldKeys = 5

/** A list without some of its objects must not pass for a whole one. */
function warnOfUnreadable(exchange: Exchange, { cache }: Resource, namespace: string | undefined): void {
  const left = cache.allUnreadable(namespace)
  for (const { key, why } of left.slice(0, toldKeys)) exchange.warn(`${key} is left out: ${why}`)
  if (left.length > toldKeys) exchange.warn(`${left.length - toldKeys} more objects are left out: they cannot be read`)
}

/** The list as JSON, a chunk for each memory that is given. An object larger than that goes as it is. */
function* listJson(resource: Resource, { start, objects }: Parts, memory: ChunkMemory): Generator<Buffer> {
  const typed = typePrefix(resource)
  let chunk = memory()
  let used = start.copy(chunk)
  let brace = openBrace
  for (const object of objects) {
    const json = jsonOf(resource, object.json)
    checkType(object, json, typed)
    used += brace.copy(chunk, used)
    brace = commaBrace
    // There is always room left for a brace, or for the end.
    const full = chunk.length - closing.length
    if (used + json.length > full) {
      yield chunk.subarray(0, used)
      chunk = memory()
      used = 0
    }
    // Items of a list carry no apiVersion and kind: those stand first in an object and are left out.
    if (json.length > full) yield json.subarray(typed.length)
    else used += json.copy(chunk, used, typed.length)
  }
  yield chunk.subarray(0, used + closing.copy(chunk, used))
}

interface Parts {
  readonly start: Buffer
  readonly objects: readonly CachedObject[]
}

const openBrace = Buffer.from('{')
const commaBrace = Buffer.from(',{')
const closing = Buffer.from(']}')

function checkType(object: CachedObject, json: Buffer, typed: Buffer): void {
  if (json.compare(typed, 0, typed.length, 0, typed.length) !== 0)
    throw new TypeError(`${object.key} is stored as another kind`)
}

function typePrefix({ apiVersion, kind }: Resource): Buffer {
  return Buffer.from(`{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind.kind)},`)
}

function head({ apiVersion, kind }: Resource, page: ListPage): string {
  const metadata = {
    ...(page.continueToken === '' ? {} : { continue: page.continueToken }),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
    resourceVersion: formatVersion(page.revision),
  }
  return `{"apiVersion":${JSON.stringify(apiVersion)},"kind":"${kind.kind}List","metadata":${JSON.stringify(metadata)},"items":[`
}
