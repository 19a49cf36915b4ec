/**
 * Caches the OpenAPI documents. Each document is built on first request and then cached only as compressed bytes. The
 * code that builds documents is also loaded on first request, so an unused endpoint costs no memory.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { sameTypes } from './blocks.ts'
import type { MakerV2 } from './document-builder.ts'
import { type Described, type GroupVersion, groupVersions } from './group-version.ts'
import type { DocumentText } from './parts.ts'

export interface Document {
  /** A hash that identifies the exact bytes of the document. */
  readonly hash: string
  readonly gzip: Buffer
}

/** A document in both encodings. Each encoding is built on first use. */
export interface DocumentForms {
  readonly json: () => Promise<Document>
  readonly protobuf: () => Promise<Document>
}

/** A document with its sources. The document is valid while the sources are unchanged. */
interface Made {
  readonly sources: readonly object[]
  readonly document: Promise<Document>
}

export class Documents {
  readonly #describe: () => Described
  /** The documents by name: one for each group version, and three that describe all group versions. */
  readonly #documents = new Map<string, Made>()
  #maker: Promise<MakerV2> | undefined

  /** Creates the cache. `describe` returns the types that are currently served. */
  constructor(describe: () => Described) {
    this.#describe = describe
  }

  v2Json(): Promise<Document> {
    const described = this.#describe()
    return this.#once('v2', sourcesOf(described), async () => (await this.#makerV2()).json(described))
  }

  v2Protobuf(): Promise<Document> {
    const described = this.#describe()
    return this.#once('v2 protobuf', sourcesOf(described), async () => (await this.#makerV2()).protobuf(described))
  }

  /**
   * Returns the OpenAPI v3 index, which contains the URL of each group version's document. The URL includes a hash of
   * the content.
   */
  v3Index(): Promise<Document> {
    const described = this.#describe()
    return this.#once(`v3 with ${JSON.stringify(described.aggregated.v3)}`, described.types, async () => {
      const versions = groupVersions(described)
      this.#forget(versions)
      const paths: { [place: string]: { serverRelativeURL: string } } = {}
      for (const version of versions) {
        const place = version.path.slice(1)
        const { hash } = await this.#v3Of(described, version)
        paths[place] = { serverRelativeURL: addressV3(place, hash) }
      }
      for (const { place, hash } of described.aggregated.v3)
        paths[place] = { serverRelativeURL: addressV3(place, hash) }
      return [JSON.stringify({ paths })]
    })
  }

  /**
   * Returns the document of one group version, identified by its path without the leading slash: `api/v1`,
   * `apis/storage.orch.io/v1`.
   */
  async v3(place: string): Promise<Document | undefined> {
    const described = this.#describe()
    const version = groupVersions(described).find(({ path }) => path === `/${place}`)
    return version && (await this.#v3Of(described, version))
  }

  /** Returns the OpenAPI v3 document of a group version, in both encodings. */
  async v3Forms(place: string): Promise<DocumentForms | undefined> {
    const described = this.#describe()
    const version = groupVersions(described).find(({ path }) => path === `/${place}`)
    if (version === undefined) return undefined
    const protobuf = async () => (await import('./document-builder.ts')).makeV3Protobuf(described, version)
    return {
      json: () => this.#v3Of(described, version),
      protobuf: () => this.#once(`v3 ${version.path} protobuf`, version.types, protobuf),
    }
  }

  #v3Of(described: Described, version: GroupVersion): Promise<Document> {
    const make = async () => (await import('./document-builder.ts')).makeV3Json(described, version)
    return this.#once(`v3 ${version.path}`, version.types, make)
  }

  /** Drops the documents of group versions that are no longer served. */
  #forget(versions: readonly GroupVersion[]): void {
    const served = new Set(versions.flatMap(({ path }) => [`v3 ${path}`, `v3 ${path} protobuf`]))
    for (const name of this.#documents.keys())
      if (name.startsWith('v3 ') && !served.has(name)) this.#documents.delete(name)
  }

  #makerV2(): Promise<MakerV2> {
    this.#maker ??= import('./document-builder.ts').then(({ MakerV2 }) => new MakerV2())
    return this.#maker
  }

  /** Concurrent requests share one build of a document. If the build fails, the next request tries again. */
  #once(name: string, sources: readonly object[], make: () => Promise<DocumentText>): Promise<Document> {
    const documents = this.#documents.get(name)
    if (documents !== undefined && sameTypes(documents.sources, sources)) return documents.document
    const making = { sources, document: make().then(pack) }
    this.#documents.set(name, making)
    making.document.catch(() => {
      if (this.#documents.get(name) === making) this.#documents.delete(name)
    })
    return making.document
  }
}

/**
 * Returns the objects that an OpenAPI v2 document is built from: served types and aggregated documents. The document is
 * valid as long as these objects stay the same.
 */
function sourcesOf({ types, aggregated }: Described): readonly object[] {
  return [...types, ...aggregated.documents]
}

/** Returns the URL of a group version's document, including the hash of its content. */
export function addressV3(place: string, hash: string): string {
  return `/openapi/v3/${place}?hash=${hash}`
}

/** Number of bytes to hash and compress in one step. */
const pieceBytes = 256 * 1024

/**
 * Hashes and compresses a document in pieces. A document may be many megabytes long, and the event loop must be able to
 * handle other requests between pieces.
 */
async function pack(parts: DocumentText): Promise<Document> {
  const hash = createHash('sha256')
  const compressor = createGzip()
  const packed = buffer(compressor)
  for (const piece of inPieces(parts)) {
    hash.update(piece)
    if (!compressor.write(piece)) await once(compressor, 'drain')
  }
  compressor.end()
  return { hash: hash.digest('hex').toUpperCase(), gzip: await packed }
}

function* inPieces(parts: DocumentText): Generator<Buffer> {
  let waiting: Buffer[] = []
  let size = 0
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    waiting.push(bytes)
    size += bytes.length
    if (size < pieceBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  yield Buffer.concat(waiting)
}
