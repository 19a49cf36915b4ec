/**
 * /openapi/v2 and /openapi/v3 describe the served API.
 *
 * OpenAPI v2 is a single document in JSON or Protobuf. A client that sends the document's ETag gets a 304 if nothing
 * has changed. OpenAPI v3 has one document for each group version, and an index of these documents. Each document's URL
 * contains a hash of its content, so clients may cache the document forever. When the catalogue changes, only the
 * affected parts are rebuilt.
 */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { noSuchPath } from '../../../api/model/api-error.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
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
/**
 * The invalid media type that older clients request. These clients fail if the response uses the same type, so
 * responses use the new media type.
 */
const oldProtobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const protobufV3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
const oldProtobufV3 = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'
const plainText = 'text/plain; charset=utf-8'
const oneYearMs = 31_536_000_000

export interface OpenApiOptions {
  readonly catalogue: Catalogue
  /** Version of the server. */
  readonly version: string
  /** The Kubernetes version that the server emulates. */
  readonly emulated: EmulatedVersion
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
  /** The documents of aggregated servers. */
  readonly published: () => AggregatedDocuments
  /**
   * Forwards a request for an OpenAPI v3 document to the aggregated server that owns the document. Returns false if
   * this server owns the document.
   */
  readonly passOn: (exchange: Exchange, place: string) => false | Promise<void>
}

/** Serves `/openapi/v2` and `/openapi/v3`. */
export function openApiPaths({
  catalogue,
  version,
  emulated,
  extensions,
  published,
  passOn,
}: OpenApiOptions): PathHandler {
  const { vendor } = catalogue
  const documents = new Documents(() => ({
    vendor,
    version,
    emulated,
    extensions,
    types: catalogue.all(),
    aggregated: published(),
  }))
  const serveV3 = isAtLeast(emulated, '1.24') ? sendPublicV3 : sendV3
  return (exchange, info) => {
    const path = info.path.replace(/\/$/, '')
    if (path !== '/openapi/v2' && path !== '/openapi/v3' && !path.startsWith('/openapi/v3/')) return false
    const isRead = info.verb === 'get' || info.verb === 'head'
    // Since Kubernetes 1.24, OpenAPI v3 paths accept every HTTP method.
    if (!isRead && (path === '/openapi/v2' || serveV3 === sendV3)) throw notAllowed()
    warnKubectl(exchange, vendor)
    if (path === '/openapi/v2') return sendV2(exchange, documents, emulated)
    const request = { documents, place: info.path.slice('/openapi/v3/'.length), hash: info.query.get('hash') }
    if (path === '/openapi/v3')
      return serveV3(exchange, { ...request, place: undefined, isSlashed: info.path !== path })
    const place = path.slice('/openapi/v3/'.length)
    return passOn(exchange, place) || serveV3(exchange, { ...request, place })
  }
}

async function sendV2(exchange: Exchange, documents: Documents, emulated: EmulatedVersion): Promise<void> {
  const chosen = chooseType(exchange.headers, [json, protobuf, oldProtobuf])
  const vary = isAtLeast(emulated, '1.24') ? 'Accept-Encoding, Accept' : 'Accept, Accept-Encoding'
  if (chosen === json) await sendPacked(exchange, { type: json, vary, document: await documents.v2Json() })
  else await sendPacked(exchange, { type: protobuf, vary, document: await documents.v2Protobuf() })
}

interface V3Request {
  readonly documents: Documents
  /** The path of the requested group version, such as `apis/apps/v1`. Undefined for the index of all documents. */
  readonly place: string | undefined
  readonly hash: string | null
  /** Whether the index was requested with a trailing slash. */
  readonly isSlashed?: boolean
}

/** Serves OpenAPI v3 when emulating Kubernetes 1.23, which does not yet specify OpenAPI v3. Supports only JSON. */
async function sendV3(exchange: Exchange, { documents, place, hash }: V3Request): Promise<void> {
  chooseType(exchange.headers, [json])
  const vary = 'Accept, Accept-Encoding'
  if (place === undefined) return await sendPacked(exchange, { type: json, vary, document: await documents.v3Index() })
  const document = await documents.v3(place)
  if (document === undefined) throw noSuchPath()
  if (hash !== null && hash !== document.hash) return redirect(exchange, addressV3(place, document.hash))
  if (hash !== null) exchange.setHeader('cache-control', `private, max-age=${oneYearMs / 1000}, immutable`)
  await sendPacked(exchange, { type: json, vary, document })
}

/** Redirects a client that requested an outdated hash to the URL of the current document. */
function redirect(exchange: Exchange, address: string): void {
  exchange.setHeader('location', address)
  sendText(exchange, 302, `the document is now at ${address}\n`)
}

/**
 * Sends an OpenAPI v3 document as Kubernetes has done since 1.24: uncompressed, for every HTTP method, and also in
 * Protobuf.
 */
async function sendPublicV3(exchange: Exchange, { documents, place, hash, isSlashed }: V3Request): Promise<void> {
  if (place === undefined && !isSlashed) return await sendIndex(exchange, await documents.v3Index())
  const forms = place === undefined ? undefined : await documents.v3Forms(place)
  if (forms === undefined || place === undefined) return sendNotFound(exchange)
  const chosen = chooseType(exchange.headers, [json, protobufV3, oldProtobufV3])
  const { hash: current } = await forms.json()
  if (hash !== null && hash !== '' && hash !== current) {
    exchange.setHeader('location', addressV3(place, current))
    return await exchange.send(301, json, Buffer.alloc(0))
  }
  if (hash === current) {
    exchange.setHeader('cache-control', 'public, immutable')
    exchange.setHeader('expires', new Date(Date.now() + oneYearMs).toUTCString())
  }
  const document = chosen === json ? await forms.json() : await forms.protobuf()
  exchange.setHeader('etag', `"${document.hash}"`)
  exchange.setHeader('vary', 'Accept')
  const type = chosen === json ? json : protobufV3
  if (holds(exchange, document.hash)) return sendNotModified(exchange, type)
  await exchange.send(200, type, await unpack(document.gzip))
}

/** Sends the index with the content type that Go would detect, because Kubernetes does not set a content type. */
async function sendIndex(exchange: Exchange, { hash, gzip }: Document): Promise<void> {
  exchange.setHeader('etag', `"${hash}"`)
  if (holds(exchange, hash)) return sendNotModified(exchange, plainText)
  await exchange.send(200, plainText, await unpack(gzip))
}

function sendNotFound(exchange: Exchange): void {
  exchange.open(404, plainText)
  exchange.transport.end()
}

const unpack = sharedUnpacking(promisify<Buffer, Buffer>(gunzip))

interface PackedResponse {
  readonly type: string
  readonly vary: string
  readonly document: Document
}

async function sendPacked(exchange: Exchange, { type, vary, document: { hash, gzip } }: PackedResponse): Promise<void> {
  exchange.setHeader('etag', `"${hash}"`)
  exchange.setHeader('vary', vary)
  if (holds(exchange, hash)) return sendNotModified(exchange, type)
  if (!acceptsGzip(exchange)) return exchange.send(200, type, await unpack(gzip))
  exchange.setHeader('content-encoding', 'gzip')
  return exchange.send(200, type, gzip)
}

function sendNotModified(exchange: Exchange, type: string): void {
  exchange.open(304, type)
  exchange.transport.end()
}

/** Whether the client's If-None-Match header contains the hash, so that a 304 suffices. */
function holds({ headers }: Exchange, hash: string): boolean {
  const tags = headers.all('if-none-match').flatMap((value) => value.split(','))
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === `"${hash}"`)
}
