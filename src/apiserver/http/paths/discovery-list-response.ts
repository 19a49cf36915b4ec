/** Negotiates and sends a document of aggregated discovery. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Exchange } from '../request/exchange.ts'
import type { PathInfo } from '../request/request-info.ts'
import type { Form } from '../response/forms.ts'
import { negotiateType } from '../response/negotiate.ts'
import { protobufDiscovery } from '../response/protobuf-form.ts'
import { acceptsGzip, compressFrom, sendBytes } from '../response/responses.ts'
import type { DiscoveryListType } from './discovery-list.ts'

const gzipAsync = promisify(gzip)

/** The document's JSON with its ETag. All clients share the compressed JSON. */
export class DiscoveryListDocument {
  readonly json: Buffer
  readonly etag: string
  #gzip: Promise<Buffer> | undefined

  constructor(json: Buffer) {
    this.json = json
    this.etag = etagOf(json)
  }

  get gzip(): Promise<Buffer> {
    this.#gzip ??= gzipAsync(this.json)
    return this.#gzip
  }
}

/** Returns the ETag for the content of a document. */
export function etagOf(content: Buffer): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
}

interface AgreedList {
  readonly form: Form
  readonly type: DiscoveryListType
}

/**
 * Returns the version of the aggregated discovery document that the client requests, and its format. Returns undefined
 * if the client requests no version that this server offers.
 */
export function agreeOnList(
  { headers }: Exchange,
  { query }: PathInfo,
  { types, vendor }: { readonly types: readonly DiscoveryListType[]; readonly vendor: Vendor },
): AgreedList | undefined {
  const protobuf = () => protobufDiscovery(vendor)
  return negotiateType({ headers, query, watch: false, vendor, protobuf }, types)
}

/** Sends the document, or 304 if the client already has it. Like kube-apiserver, compares only a single ETag. */
export async function sendList(exchange: Exchange, list: DiscoveryListDocument, form: Form): Promise<void> {
  exchange.form = form
  exchange.setHeader('etag', list.etag)
  exchange.setHeader('vary', 'Accept')
  exchange.setHeader('cache-control', 'public')
  if (exchange.headers.all('if-none-match').includes(list.etag)) {
    exchange.open(304, undefined)
    exchange.transport.end()
    return
  }
  const isShared = form.encode === undefined && list.json.length >= compressFrom && acceptsGzip(exchange)
  if (!isShared) return await sendBytes(exchange, 200, list.json)
  exchange.audit?.hasAnswered(list.json)
  exchange.setHeader('content-encoding', 'gzip')
  exchange.setHeader('vary', 'Accept-Encoding, Accept')
  return exchange.send(200, form.mediaType, await list.gzip)
}
