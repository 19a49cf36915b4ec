/** GET of a collection: the cached bytes of its objects, joined. */
import type { CachedObject } from '../../cache/cached-object.ts'
import { formatVersion } from '../../model/resource-version.ts'
import { jsonOf } from '../../registry/conversion.ts'
import { type ListPage, list } from '../../registry/list.ts'
import type { Resource } from '../../registry/resource.ts'
import { readListQuery } from '../list-options.ts'
import type { Handler } from '../resource-request.ts'
import { sendChunks } from '../responses.ts'

export const handleList: Handler = async (request) => {
  const { exchange, resource } = request
  const page = await list(resource, readListQuery(request))
  const size = page.objects.reduce((sum, object) => sum + object.json.length, 0)
  await sendChunks(exchange, listJson(resource, page), size)
}

const chunkBytes = 64 * 1024

/** The list as JSON in chunks of bounded size. */
function* listJson(resource: Resource, page: ListPage): Generator<Buffer> {
  const typed = typePrefix(resource)
  let parts: Buffer[] = [Buffer.from(head(resource, page))]
  let size = 0
  for (const [index, object] of page.objects.entries()) {
    // Items of a list carry no apiVersion and kind: those stand first in an object and are left out.
    parts.push(index === 0 ? openBrace : commaBrace, itemBytes(resource, object, typed))
    size += object.json.length
    if (size > chunkBytes) {
      yield Buffer.concat(parts)
      parts = []
      size = 0
    }
  }
  yield Buffer.concat([...parts, closing])
}

const openBrace = Buffer.from('{')
const commaBrace = Buffer.from(',{')
const closing = Buffer.from(']}')

function itemBytes(resource: Resource, object: CachedObject, typed: Buffer): Buffer {
  const json = jsonOf(resource, object.json)
  if (json.compare(typed, 0, typed.length, 0, typed.length) !== 0)
    throw new TypeError(`${object.key} is stored as another kind`)
  return json.subarray(typed.length)
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
