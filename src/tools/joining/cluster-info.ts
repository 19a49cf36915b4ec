/**
 * Establishes trust in a cluster from a bootstrap token alone. The client reads `cluster-info` over an unverified
 * connection without sending credentials, and checks its signature, which is created with the token as the key. The
 * signed kubeconfig contains the CA. The client then reads `cluster-info` again over a connection verified with that
 * CA. The two responses must be equal.
 *
 * The signature must use HS256 with the token as the key. Any other algorithm, an embedded payload, an entry for
 * another token or a modified text is rejected. Each profile uses a different part of the token as the key, so the
 * matching key reveals the profile of the cluster.
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
  /** The CA certificates that verify the server, as a PEM bundle. */
  readonly authority: string
}

export interface TrustRequest {
  /** URL of the server. */
  readonly server: string
  readonly token: Token
  /**
   * Pins of CA public keys in the format `sha256:<hex>`. If there are pins, only the pinned CAs are trusted. Otherwise,
   * the token alone establishes trust.
   */
  readonly pins: readonly string[]
  readonly signal: AbortSignal
}

/** Returns the verified cluster. Throws JoinError if trust cannot be established. */
export async function trustCluster({ server, token, pins, signal }: TrustRequest): Promise<TrustedCluster> {
  const { vendor, kubeconfig } = verified(await readSigned({ server, token, signal }), token)
  const authority = pinned(authoritiesIn(await readConfig(kubeconfig)), pins).join('')
  const again = await readInfo({ server, authority }, signal)
  if (verified(again, token).kubeconfig !== kubeconfig)
    throw new JoinError(
      'cluster-info has different content over a verified connection: the first connection may have been intercepted',
    )
  return { vendor, authority }
}

/** Time to wait for a signature, in milliseconds. The cluster needs a short time to sign with a new token. */
const patienceMs = 10_000
const retryMs = 500

/** Waits until the cluster information has been signed with the token. The caller verifies the signature. */
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
    if (!isObject(data)) throw new JoinError("the server's cluster-info is empty")
    return data
  } finally {
    transport.close()
  }
}

/** Verifies the signature. Returns the signed kubeconfig and the profile of the cluster. */
export function verified(data: Data, token: Token): { vendor: Vendor; kubeconfig: string } {
  const { kubeconfig } = data
  const entry = Object.hasOwn(data, signaturePrefix + token.id) ? data[signaturePrefix + token.id] : undefined
  if (typeof kubeconfig !== 'string') throw new JoinError("the server's cluster-info has no kubeconfig")
  if (typeof entry !== 'string')
    throw new JoinError(
      `cluster-info has no signature for the token ${token.id}: the token is wrong, has expired, or may not sign cluster-info`,
    )
  const parts = entry.split('.')
  const [header = '', payload, signature = ''] = parts
  if (parts.length !== 3 || payload !== '') throw new JoinError('the cluster-info signature is not a detached JWS')
  checkHeader(header, token)
  const content = `${header}.${Buffer.from(kubeconfig).toString('base64url')}`
  const vendor = profileNames.map(vendorOf).find((each) => isSignedWith(signingKeyOf(each, token), content, signature))
  if (vendor === undefined)
    throw new JoinError(
      'the cluster-info signature does not match the token: the token is wrong, or the connection is being intercepted',
    )
  return { vendor, kubeconfig }
}

function checkHeader(text: string, { id }: Token): void {
  const header = parsed(() => parseJson(Buffer.from(text, 'base64url').toString()) as Json)
  if (!isObject(header) || header.alg !== 'HS256' || Object.hasOwn(header, 'crit'))
    throw new JoinError('the cluster-info signature does not use HS256')
  if (header.kid !== id) throw new JoinError('the cluster-info signature belongs to another token')
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    // Return undefined for invalid input, which the caller then rejects.
    return undefined
  }
}

/** Checks the signature. Compares in constant time. */
function isSignedWith(key: string, content: string, signature: string): boolean {
  const expectedSignature = createHmac('sha256', key).update(content).digest('base64url')
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(expectedSignature), hash(signature))
}

/** Parses the kubeconfig. Although it is signed, it may use any YAML syntax. */
async function readConfig(text: string): Promise<Json> {
  const plain = parsePlainYaml(text)
  if (plain !== undefined) return plain
  const { parseConfigYaml } = await import('../../client/node/config-yaml.ts')
  try {
    return parseConfigYaml('the cluster-info kubeconfig', text)
  } catch (error) {
    throw error instanceof ConfigError ? new JoinError(error.message) : error
  }
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Parses PEM certificates. Throws an error if one of them is invalid. */
function certificatesIn(pem: string): X509Certificate[] {
  return (pem.match(pemBlock) ?? []).map((block) => new X509Certificate(block))
}

/**
 * Returns the CA certificates in a kubeconfig. Ignores all content that is not a PEM certificate, because TLS would
 * also accept other formats.
 */
function authoritiesIn(config: Json): X509Certificate[] {
  const clusters = isObject(config) && Array.isArray(config.clusters) ? config.clusters : []
  const cluster = isObject(clusters[0]) && isObject(clusters[0].cluster) ? clusters[0].cluster : ({} as JsonObject)
  const data = cluster['certificate-authority-data']
  const certificates = parsed(() =>
    certificatesIn(typeof data === 'string' ? Buffer.from(data, 'base64').toString() : ''),
  )
  if (certificates === undefined || certificates.length === 0)
    throw new JoinError('cluster-info contains no CA certificate for verifying the server')
  return certificates
}

/** Returns the pin of a CA: the hash of its public key. */
function pinOf({ publicKey }: X509Certificate): string {
  const key = publicKey.export({ type: 'spki', format: 'der' })
  return `sha256:${createHash('sha256').update(key).digest('hex')}`
}

/**
 * Returns the pins of all PEM certificates in a text. Throws JoinError if the text contains no certificates or an
 * invalid one.
 */
export function pinsOf(pem: string): string[] {
  const certificates = parsed(() => certificatesIn(pem)) ?? []
  if (certificates.length === 0) throw new JoinError('the CA in the kubeconfig is not a PEM certificate')
  return certificates.map(pinOf)
}

const maxShownPins = 3

/** Returns the pinned certificates in PEM, or all certificates if there are no pins. */
function pinned(authorities: readonly X509Certificate[], pins: readonly string[]): string[] {
  const trusted = pins.length === 0 ? authorities : authorities.filter((each) => pins.includes(pinOf(each)))
  const shownPins = authorities.slice(0, maxShownPins).map(pinOf)
  if (trusted.length === 0)
    throw new JoinError(`the hash of the cluster CA is ${shownPins.join(' or ')}, which does not match --ca-cert-hash`)
  return trusted.map((each) => each.toString())
}
