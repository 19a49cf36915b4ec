/**
 * How a client that has nothing but a token comes to trust a cluster: it reads `cluster-info` over a connection that it
 * cannot verify, sending no credentials, and checks the signature in it, whose key is the token. What is signed names
 * the CA; with that it reads `cluster-info` once more, and both must say the same.
 *
 * The signature must be HS256 by the token: any other algorithm, a payload inside the signature, another token's entry or
 * a text that was changed on the way is refused. Which part of the token is the key tells the profile of the cluster.
 */

import { createHash, createHmac, timingSafeEqual, X509Certificate } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import { parseJson } from '../../api/json/portable-json.ts'
import { clusterInfo, signaturePrefix, signingKeyOf } from '../../api/model/bootstrap-token.ts'
import { profileNames, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { pause } from '../../base/concurrency/abort.ts'
import { HttpTransport } from '../../client/node/http-transport.ts'
import { ConfigError } from '../../client/node/kubeconfig-files.ts'
import { parsePlainYaml } from '../../client/node/plain-yaml.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { Client } from '../../client/requests/client.ts'
import { objectPath } from '../../client/requests/resource-type.ts'
import { JoinError } from './join-error.ts'

export interface Token {
  readonly id: string
  readonly secret: string
}

export interface TrustedCluster {
  readonly vendor: Vendor
  /** PEM of the CA by which the server is verified. */
  readonly authority: string
}

export interface TrustRequest {
  /** The address of the server. */
  readonly server: string
  readonly token: Token
  /** Pins of public keys of CAs, `sha256:<hex>`: only the CAs that they name are trusted. Without pins the token vouches. */
  readonly pins: readonly string[]
  readonly signal: AbortSignal
}

/** Throws JoinError. */
export async function trustCluster({ server, token, pins, signal }: TrustRequest): Promise<TrustedCluster> {
  const { vendor, kubeconfig } = verified(await readSigned({ server, token, signal }), token)
  const authority = pinned(authoritiesIn(await readConfig(kubeconfig)), pins).join('')
  const again = await readInfo({ server, authority }, signal)
  if (verified(again, token).kubeconfig !== kubeconfig)
    throw new JoinError('cluster-info says something else over a verified connection: somebody may be in between')
  return { vendor, authority }
}

/** A new token is signed with a moment later. */
const patienceMs = 10_000
const retryMs = 500

/** Waits a while for an entry of the token; what it says is judged by the caller. */
async function readSigned({ server, token, signal }: Omit<TrustRequest, 'pins'>): Promise<Data> {
  const end = performance.now() + patienceMs
  for (;;) {
    const data = await readInfo({ server, insecure: true }, signal)
    if (Object.hasOwn(data, signaturePrefix + token.id) || performance.now() > end) return data
    await pause(retryMs, signal)
    signal.throwIfAborted()
  }
}

type Data = { readonly [key: string]: Json | undefined }

async function readInfo(
  options: { readonly server: string; readonly insecure?: true; readonly authority?: string },
  signal: AbortSignal,
): Promise<Data> {
  const transport = new HttpTransport(options)
  try {
    const path = objectPath(kinds.ConfigMap, clusterInfo)
    const object = await new Client(transport.send).read<Json>(path, { signal })
    const data = isObject(object) ? object.data : undefined
    if (!isObject(data)) throw new JoinError('cluster-info of that server is empty')
    return data
  } finally {
    transport.close()
  }
}

/** What is signed, and the profile that signs like this. */
export function verified(data: Data, token: Token): { vendor: Vendor; kubeconfig: string } {
  const { kubeconfig } = data
  const entry = Object.hasOwn(data, signaturePrefix + token.id) ? data[signaturePrefix + token.id] : undefined
  if (typeof kubeconfig !== 'string') throw new JoinError('cluster-info of that server has no kubeconfig')
  if (typeof entry !== 'string')
    throw new JoinError(
      `cluster-info is not signed by the token ${token.id}: it is wrong, has expired, or its cluster does not sign`,
    )
  const parts = entry.split('.')
  const [header = '', payload, signature = ''] = parts
  if (parts.length !== 3 || payload !== '') throw new JoinError('the signature of cluster-info is not a detached one')
  checkHeader(header, token)
  const content = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`
  const vendor = profileNames.map(vendorOf).find((each) => isSignedWith(signingKeyOf(each, token), content, signature))
  if (vendor === undefined)
    throw new JoinError('cluster-info is not signed by this token: the token is wrong, or somebody is in between')
  return { vendor, kubeconfig }
}

function checkHeader(text: string, { id }: Token): void {
  const header = parsed(() => parseJson(Buffer.from(text, 'base64url').toString()) as Json)
  if (!isObject(header) || header.alg !== 'HS256' || Object.hasOwn(header, 'crit'))
    throw new JoinError('the signature of cluster-info is not HS256')
  if (header.kid !== id) throw new JoinError('the signature of cluster-info is by another token')
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    // What cannot be read is refused by whoever looks at it.
    return undefined
  }
}

/** In a time that does not tell how much of it is the same. */
function isSignedWith(key: string, content: string, signature: string): boolean {
  const wanted = createHmac('sha256', key).update(content).digest('base64url')
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(wanted), hash(signature))
}

/** It is signed, but still only text: whoever wrote it may have used all of YAML. */
async function readConfig(text: string): Promise<Json> {
  const plain = parsePlainYaml(text)
  if (plain !== undefined) return plain
  const { parseConfigYaml } = await import('../../client/node/config-yaml.ts')
  try {
    return parseConfigYaml('the kubeconfig of cluster-info', text)
  } catch (error) {
    throw error instanceof ConfigError ? new JoinError(error.message) : error
  }
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** The certificates in PEM. Throws where one cannot be read. */
function certificatesIn(pem: string): X509Certificate[] {
  return (pem.match(pemBlock) ?? []).map((block) => new X509Certificate(block))
}

/** The certificates of the CA in a client config. Only these are used of what it holds: TLS would read further forms. */
function authoritiesIn(config: Json): X509Certificate[] {
  const clusters = isObject(config) && Array.isArray(config.clusters) ? config.clusters : []
  const cluster = isObject(clusters[0]) && isObject(clusters[0].cluster) ? clusters[0].cluster : ({} as JsonObject)
  const data = cluster['certificate-authority-data']
  const found = parsed(() => certificatesIn(typeof data === 'string' ? Buffer.from(data, 'base64').toString() : ''))
  if (found === undefined || found.length === 0)
    throw new JoinError('cluster-info names no CA by which the server can be verified')
  return found
}

/** The pin of a CA: a hash of its public key. */
function pinOf({ publicKey }: X509Certificate): string {
  const key = publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

/** The pins of all certificates in PEM. Throws JoinError where there is none, or one cannot be read. */
export function pinsOf(pem: string): string[] {
  const found = parsed(() => certificatesIn(pem)) ?? []
  if (found.length === 0) throw new JoinError('the CA of the client config is not a certificate in PEM form')
  return found.map(pinOf)
}

const maxShownPins = 3

/** The certificates that the pins name, as PEM; all of them where there are no pins. */
function pinned(authorities: readonly X509Certificate[], pins: readonly string[]): string[] {
  const trusted = pins.length === 0 ? authorities : authorities.filter((each) => pins.includes(pinOf(each)))
  const shown = authorities.slice(0, maxShownPins).map(pinOf)
  if (trusted.length === 0)
    throw new JoinError(`the CA of that cluster is ${shown.join(' or ')}, which --ca-cert-hash does not name`)
  return trusted.map((each) => each.toString())
}
