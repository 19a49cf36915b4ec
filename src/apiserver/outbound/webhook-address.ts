/**
 * Where a webhook is: a URL, whose host the machine's resolver resolves and which is never taken for a Service, or a
 * path of a Service, whose certificate must be valid for `<name>.<namespace>.svc` wherever it is reached.
 */

import type { Destination } from './connections.ts'
import { type ConfiguredCredentials, credentialsFor } from './credentials.ts'
import { type ServiceAddressParts, type ServiceReference, serviceAddress } from './service-address.ts'

/** As configurations state it. */
export interface ClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace?: string
    readonly name?: string
    readonly path?: string
    readonly port?: number
  }
  /** Base64 of PEM. */
  readonly caBundle?: string
}

/** Where a webhook is called. */
export interface WebhookAddress {
  /** As errors name it. */
  readonly url: string
  readonly hostName: string
  readonly port: number
  /** With the query that contains the timeout of the call. */
  readonly path: string
  /** Undefined for a URL. */
  readonly service: ServiceReference | undefined
  /** PEM; undefined: what the machine trusts. */
  readonly authority: string | undefined
}

/** Finds out where a webhook is; throws CallError where it cannot be known. */
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

/** Where to connect to, and as whom. Throws CallError where there is nobody. */
export class Destinations {
  readonly #parts: ServiceAddressParts
  readonly #credentials: ConfiguredCredentials
  /** Those of URLs never change. */
  readonly #ofUrls = new WeakMap<WebhookAddress, Destination>()

  constructor(parts: ServiceAddressParts, credentials: ConfiguredCredentials) {
    this.#parts = parts
    this.#credentials = credentials
  }

  of(address: WebhookAddress): Destination {
    if (address.service !== undefined) return this.#make(address, serviceAddress(this.#parts, address.service))
    const known = this.#ofUrls.get(address) ?? this.#make(address, { host: address.hostName, port: address.port })
    this.#ofUrls.set(address, known)
    return known
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
