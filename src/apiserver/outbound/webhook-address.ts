/**
 * Resolves the address of a webhook. The address is a URL or a path of a Service. The operating system resolves the
 * host of a URL, even if the host is the name of a Service. The certificate of a Service must be valid for
 * `<name>.<namespace>.svc`, regardless of the address that is used.
 */

import type { Destination } from './connections.ts'
import { type ConfiguredCredentials, credentialsFor } from './credentials.ts'
import { type ServiceAddressParts, type ServiceReference, serviceAddress } from './service-address.ts'

/** The `clientConfig` of a webhook: a URL or a Service, and the CA to trust. */
export interface ClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace?: string
    readonly name?: string
    readonly path?: string
    readonly port?: number
  }
  /** CA certificates in PEM format, encoded in base64. */
  readonly caBundle?: string
}

/** The address of a webhook after parsing. */
export interface WebhookAddress {
  /** The URL to show in error messages. */
  readonly url: string
  readonly hostName: string
  readonly port: number
  /** The path and query of the request. The query contains the timeout of the call. */
  readonly path: string
  /** The Service to call. Undefined if the address is a URL. */
  readonly service: ServiceReference | undefined
  /** CA certificates in PEM format. If undefined, the system's trust store is used. */
  readonly authority: string | undefined
}

/** Parses the address of a webhook. The query of the resulting path contains the timeout. */
export function webhookAddress({ url, service, caBundle }: ClientConfig, timeoutMs: number): WebhookAddress {
  const authority = caBundle ? Buffer.from(caBundle, 'base64').toString('utf8') : undefined
  const query = `timeout=${timeoutMs / 1000}s`
  if (service !== undefined) {
    const { namespace = '', name = '', path = '/', port = 443 } = service
    const hostName = `${name}.${namespace}.svc`
    const asked = `${path === '' ? '/' : path}?${query}`
    const reference = { namespace, name, port }
    return { url: `https://${hostName}:${port}${asked}`, hostName, port, path: asked, service: reference, authority }
  }
  const { hostname, port, pathname } = new URL(url ?? 'https://invalid')
  const hostName = hostname.replace(/^\[(.*)\]$/, '$1')
  const asked = `${pathname}?${query}`
  const place = { hostName, port: port === '' ? 443 : Number(port), path: asked }
  return { url: `https://${hostname}${port && ':'}${port}${asked}`, ...place, service: undefined, authority }
}

/**
 * Determines how to connect to webhooks: the address, the CA and the credentials. Throws CallError if a Service has no
 * address.
 */
export class Destinations {
  readonly #parts: ServiceAddressParts
  readonly #credentials: ConfiguredCredentials
  /** Cached destinations of webhooks that are configured by URL. These destinations never change. */
  readonly #ofUrls = new WeakMap<WebhookAddress, Destination>()

  constructor(parts: ServiceAddressParts, credentials: ConfiguredCredentials) {
    this.#parts = parts
    this.#credentials = credentials
  }

  of(address: WebhookAddress): Destination {
    if (address.service !== undefined) return this.#make(address, serviceAddress(this.#parts, address.service))
    const destination = this.#ofUrls.get(address) ?? this.#make(address, { host: address.hostName, port: address.port })
    this.#ofUrls.set(address, destination)
    return destination
  }

  #make({ hostName, port, service, authority }: WebhookAddress, to: { host: string; port: number }): Destination {
    const shown = hostName.includes(':') ? `[${hostName}]` : hostName
    return {
      ...to,
      serverName: hostName,
      hostHeader: service === undefined && port === 443 ? shown : `${shown}:${port}`,
      authority,
      credentials: credentialsFor(this.#credentials, shown, port),
    }
  }
}
