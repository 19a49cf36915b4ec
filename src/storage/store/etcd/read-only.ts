/**
 * Reads the keys in another program's etcd at one revision, page by page. Returns values unchanged, and neither writes
 * nor watches.
 */
import { Connection } from './connection.ts'
import { isCompacted, readFailure } from './failure.ts'
import { KeySpace } from './key-space.ts'
import { decodeRange, encodeRange, type KeyValue, methods } from './messages.ts'
import { type Pages, readPages } from './pages.ts'
import type { EtcdOptions } from './store.ts'

const pageKeys = 500
const deadlineMs = 30_000

export class EtcdReader {
  /** The etcd revision of all pages. */
  readonly revision: number
  readonly #connection: Connection

  /** Connects to etcd. Throws StoreError if no member can be used. */
  static async open({ endpoints, tls }: Pick<EtcdOptions, 'endpoints' | 'tls'>): Promise<EtcdReader> {
    const connection = new Connection({ endpoints, tls, deadlineMs })
    try {
      const request = encodeRange({ key: Buffer.of(0), countOnly: true })
      const { revision } = decodeRange(await connection.call(methods.range, request, { effect: 'read' }))
      return new EtcdReader(connection, revision)
    } catch (error) {
      connection.close()
      throw readFailure(error)
    }
  }

  private constructor(connection: Connection, revision: number) {
    this.#connection = connection
    this.revision = revision
  }

  /**
   * Yields the entries under a prefix in key order. Throws StoreError, for example if etcd has compacted the revision.
   */
  async *pages(prefix: string): AsyncGenerator<readonly KeyValue[]> {
    const space = new KeySpace(prefix, 0)
    let after: string | undefined
    for (;;) {
      const page: Pages = await this.#page(space, after)
      const last = page.entries.at(-1)
      if (last === undefined) return
      yield page.entries
      if (page.remaining === 0) return
      after = last.key.slice(prefix.length)
    }
  }

  close(): void {
    this.#connection.close()
  }

  async #page(space: KeySpace, after: string | undefined): Promise<Pages> {
    const range = { ...space.range('', after), limit: pageKeys, revision: this.revision }
    try {
      return await readPages(range, async (request) =>
        decodeRange(await this.#connection.call(methods.range, encodeRange(request), { effect: 'read' })),
      )
    } catch (error) {
      const why = isCompacted(error)
        ? new Error(`revision ${this.revision} was compacted in the meantime: try again`)
        : error
      throw readFailure(why)
    }
  }
}
