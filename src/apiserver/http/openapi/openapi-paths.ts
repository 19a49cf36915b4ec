/**
 * /openapi/v2 and /openapi/v3: descriptions of the served API.
 *
 * Version 2 is a single document in JSON or Protobuf. A client that sends its ETag gets a 304 if nothing changed.
 * Version 3 is an index of documents, one for each group version. Their URLs include a hash of the content, so clients
 * may cache them forever. When the catalogue changes, only the affected parts are rebuilt.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { noSuchPath } from '../../../api/model/api-error.ts'
import { sharedUnpacking } from '../../../base/collections/shared-unpacking.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import { notAllowed, type PathHandler } from '../dispatch.ts'
import type { Exchange } from '../request/exchange.ts'
import { warnKubectl } from '../response/kubectl-hint.ts'
import { chooseType } from '../response/negotiate.ts'
import { acceptsGzip, sendText } from '../response/responses.ts'
import type { AggregatedDocuments } from './aggregated-documents.ts'
import { addressV3, type Document, Documents } from './documents.ts'

const json = 'application/json'
const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** Requested by older clients. It is not a valid media type, and those clients fail if the response uses it. */
const oldProtobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const oneYear = 31_536_000

export interface OpenApiOptions {
  readonly catalogue: Catalogue
  /** Version of the server. */
  readonly version: string
  /** The documents of aggregated servers. */
  readonly published: () => AggregatedDocuments
  /** Forwards a request for a version 3 document to the aggregated server that owns it. Returns false if it is ours. */
  readonly passOn: (exchange: Exchange, place: string) => false | Promise<void>
}

/** Serves `/openapi/v2` and `/openapi/v3`. */
export function openApiPaths({ catalogue, version, published, passOn }: OpenApiOptions): PathHandler {
  const { vendor } = catalogue
  const documents = new Documents(() => ({ vendor, version, types: catalogue.all(), aggregated: published() }))
  return (exchange, info) => {
    const path = info.path.replace(/\/$/, '')
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return false
    if (info.verb !== 'get' && info.verb !== 'head') throw notAllowed()
    warnKubectl(exchange, vendor)
    if (path === '/openapi/v2') return sendV2(exchange, documents)
    if (path === '/openapi/v3') return sendIndex(exchange, documents)
    const place = path.slice('/openapi/v3/'.length)
    return passOn(exchange, place) || sendV3(exchange, documents, place, info.query.get('hash'))
  }
}

async function sendV2(exchange: Exchange, documents: Documents): Promise<void> {
  const chosen = chooseType(exchange.headers, [json, protobuf, oldProtobuf])
  if (chosen === json) await sendDocument(exchange, json, await documents.v2Json())
  else await sendDocument(exchange, protobuf, await documents.v2Protobuf())
}

async function sendIndex(exchange: Exchange, documents: Documents): Promise<void> {
  chooseType(exchange.headers, [json])
  await sendDocument(exchange, json, await documents.v3Index())
}

async function sendV3(exchange: Exchange, documents: Documents, place: string, hash: string | null): Promise<void> {
  chooseType(exchange.headers, [json])
  const document = await documents.v3(place)
  if (document === undefined) throw noSuchPath()
  if (hash !== null && hash !== document.hash) return redirect(exchange, addressV3(place, document.hash))
  if (hash !== null) exchange.setHeader('cache-control', `private, max-age=${oneYear}, immutable`)
  await sendDocument(exchange, json, document)
}

/** Redirects a URL with an outdated hash to the current document. */
function redirect(exchange: Exchange, address: string): void {
  exchange.setHeader('location', address)
  sendText(exchange, 302, `the document is now at ${address}\n`)
}

const unpack = sharedUnpacking(promisify<Buffer, Buffer>(gunzip))

async function sendDocument(exchange: Exchange, type: string, { hash, gzip }: Document): Promise<void> {
  exchange.setHeader('etag', `"${hash}"`)
  exchange.setHeader('vary', 'Accept, Accept-Encoding')
  if (holds(exchange, hash)) {
    exchange.open(304, type)
    exchange.transport.end()
    return
  }
  if (!acceptsGzip(exchange)) return exchange.send(200, type, await unpack(gzip))
  exchange.setHeader('content-encoding', 'gzip')
  return exchange.send(200, type, gzip)
}

/** Whether the client already has this content. */
function holds({ headers }: Exchange, hash: string): boolean {
  const tags = headers.all('if-none-match').flatMap((value) => value.split(','))
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === `"${hash}"`)
}
