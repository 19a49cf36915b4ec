/**
 * The documents as they are kept: each made when it is first asked for, then only its compressed bytes stay. What makes
 * them is loaded at that moment too, so a server that nobody asks pays nothing.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { sameTypes } from './blocks.ts'
import { type Described, type GroupVersion, groupVersions } from './group-version.ts'
import type { MakerV2 } from './make.ts'
import type { DocumentText } from './parts.ts'

export interface Document {
  /** Changes with the content: the name of exactly these bytes. */
  readonly hash: string
  readonly gzip: Buffer
}

/** A document that was made, and what of: it is good for as long as these are what there is. */
interface Made {
  readonly sources: readonly object[]
  readonly document: Promise<Document>
}

export class Documents {
  readonly #describe: () => Described
  /** By name; as many as there are versions of groups, and three more. */
  readonly #made = new Map<string, Made>()
  #maker: Promise<MakerV2> | undefined

  /** `describe` returns what is served at the moment. */
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

  /** Where to get the document of each version of a group: an address that changes with its content. */
  v3Index(): Promise<Document> {
    const described = this.#describe()
    return this.#once(`v3 with ${JSON.stringify(described.elsewhere.v3)}`, described.types, async () => {
      const versions = groupVersions(described)
      this.#forget(versions)
      const paths: { [place: string]: { serverRelativeURL: string } } = {}
      for (const version of versions) {
        const place = version.path.slice(1)
        const { hash } = await this.#v3Of(described, version)
        paths[place] = { serverRelativeURL: addressV3(place, hash) }
      }
      for (const { place, hash } of described.elsewhere.v3) paths[place] = { serverRelativeURL: addressV3(place, hash) }
      return [JSON.stringify({ paths })]
    })
  }

  /** The document of one version of a group, by its place: `api/v1`, `apis/storage.orch.io/v1`. */
  async v3(place: string): Promise<Document | undefined> {
    const described = this.#describe()
    const version = groupVersions(described).find(({ path }) => path === `/${place}`)
    return version && (await this.#v3Of(described, version))
  }

  #v3Of(described: Described, version: GroupVersion): Promise<Document> {
    const make = async () => (await import('./make.ts')).makeV3Json(described, version)
    return this.#once(`v3 ${version.path}`, version.types, make)
  }

  /** Versions that are not served any more leave nothing behind. */
  #forget(versions: readonly GroupVersion[]): void {
    const served = new Set(versions.map(({ path }) => `v3 ${path}`))
    for (const name of this.#made.keys()) if (name.startsWith('v3 ') && !served.has(name)) this.#made.delete(name)
  }

  #makerV2(): Promise<MakerV2> {
    this.#maker ??= import('./make.ts').then(({ MakerV2 }) => new MakerV2())
    return this.#maker
  }

  /** Those who ask while it is being made share it; when making it fails, the next one tries again. */
  #once(name: string, sources: readonly object[], make: () => Promise<DocumentText>): Promise<Document> {
    const made = this.#made.get(name)
    if (made !== undefined && sameTypes(made.sources, sources)) return made.document
    const making = { sources, document: make().then(pack) }
    this.#made.set(name, making)
    making.document.catch(() => {
      if (this.#made.get(name) === making) this.#made.delete(name)
    })
    return making.document
  }
}

/** All that a document of version 2 is made of. */
function sourcesOf({ types, elsewhere }: Described): readonly object[] {
  return [...types, ...elsewhere.documents]
}

/** Where the document of one version of a group is served, with the hash of its content. */
export function addressV3(place: string, hash: string): string {
  return `/openapi/v3/${place}?hash=${hash}`
}

/** As large as a piece is that is hashed and handed to the compressor at once. */
const pieceBytes = 256 * 1024

/**
 * A document may have many megabytes: it is hashed and compressed piece by piece, and requests are answered in between.
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
