/**
 * The documents as they are kept: each made when it is first asked for, then only its compressed bytes stay. What makes
 * them is loaded at that moment too, so a server that nobody asks pays nothing.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Described, groupVersions } from './group-version.ts'

export interface Document {
  /** Changes with the content: the name of exactly these bytes. */
  readonly hash: string
  readonly gzip: Buffer
}

const compress = promisify(gzip)

export class Documents {
  readonly #described: Described
  /** By name; as many as there are versions of groups, and three more. */
  readonly #made = new Map<string, Promise<Document>>()

  constructor(described: Described) {
    this.#described = described
  }

  v2Json(): Promise<Document> {
    return this.#once('v2', async () => (await import('./make.ts')).makeV2Json(this.#described))
  }

  v2Protobuf(): Promise<Document> {
    return this.#once('v2 protobuf', async () => (await import('./make.ts')).makeV2Protobuf(this.#described))
  }

  /** Where to get the document of each version of a group: an address that changes with its content. */
  v3Index(): Promise<Document> {
    return this.#once('v3', async () => {
      const paths: { [place: string]: { serverRelativeURL: string } } = {}
      for (const { path } of groupVersions(this.#described)) {
        const document = await this.v3(path.slice(1))
        paths[path.slice(1)] = { serverRelativeURL: addressV3(path.slice(1), document!.hash) }
      }
      return Buffer.from(JSON.stringify({ paths }))
    })
  }

  /** The document of one version of a group, by its place: `api/v1`, `apis/storage.orch.io/v1`. */
  async v3(place: string): Promise<Document | undefined> {
    const version = groupVersions(this.#described).find(({ path }) => path === `/${place}`)
    if (version === undefined) return undefined
    return await this.#once(`v3 ${place}`, async () => (await import('./make.ts')).makeV3Json(this.#described, version))
  }

  /** Those who ask while it is being made share it; when making it fails, the next one tries again. */
  #once(name: string, make: () => Promise<Buffer>): Promise<Document> {
    const made = this.#made.get(name)
    if (made !== undefined) return made
    const making = make().then(pack)
    this.#made.set(name, making)
    making.catch(() => this.#made.delete(name))
    return making
  }
}

/** Where the document of one version of a group is served, with the hash of its content. */
export function addressV3(place: string, hash: string): string {
  return `/openapi/v3/${place}?hash=${hash}`
}

async function pack(bytes: Buffer): Promise<Document> {
  const hash = createHash('sha256').update(bytes).digest('hex').toUpperCase()
  return { hash, gzip: await compress(bytes) }
}
