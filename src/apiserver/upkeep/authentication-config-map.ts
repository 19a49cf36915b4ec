/**
 * Maintains the ConfigMap `extension-apiserver-authentication` in the system namespace. From this ConfigMap, aggregated
 * API servers learn which CAs sign client certificates and how to authenticate the front proxy. Each server merges its
 * own values into the existing values, so that servers with different files do not overwrite each other. Expired
 * certificates are removed.
 */
import { X509Certificate } from 'node:crypto'
import type { JsonObject } from '../../api/json/json.ts'
import { apiService } from '../../api/kinds/apiregistration/api-service.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { every, fromCache } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { fetchObject, keyOf, type Resource } from '../registry/catalogue/resource.ts'
import { changeFields, createMissing, getCached } from './own-objects.ts'
import { systemNamespace } from './system-objects.ts'

/** The settings that an aggregated API server uses to authenticate the front proxy. */
export interface ProxyTrust {
  /** The CAs that sign the client certificates of front proxies, in PEM format. */
  readonly authorities: readonly string[]
  readonly usernameHeaders: readonly string[]
  /** Names of the headers with the user's UID. Empty if the front proxy does not send the UID. */
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
  readonly allowedNames: readonly string[]
}

export interface AuthenticationTrust {
  /** Returns the CA certificates for client certificates in PEM format, one per element. */
  readonly clientAuthorities: () => readonly string[]
  readonly proxy: () => ProxyTrust | undefined
}

const object = { namespace: systemNamespace, name: 'extension-apiserver-authentication' }
const key = `${object.namespace}/${object.name}`
/**
 * Interval in milliseconds between checks of the values, because the certificate files may change while the server
 * runs.
 */
const periodMs = 60_000

/**
 * Creates the loop that maintains the ConfigMap. Returns undefined if the server does not serve ConfigMaps or does not
 * serve APIServices. Without APIServices, there are no aggregated servers.
 */
export function authenticationConfigMapLoop(catalogue: Catalogue, trust: AuthenticationTrust): Loop | undefined {
  const maps = catalogue.stored('core', 'configmaps')
  if (maps === undefined || catalogue.stored(apiService.group, apiService.plural) === undefined) return undefined
  return {
    name: 'authentication-config-map',
    sources: [every(periodMs, key), fromCache(maps.cache, { keysOf: (changed) => (changed === key ? [key] : []) })],
    reconcile: async () => {
      await bringUp(maps, trust)
      return 'done'
    },
  }
}

async function bringUp(maps: Resource, { clientAuthorities, proxy }: AuthenticationTrust): Promise<void> {
  await fetchObject(maps, keyOf(maps, object.namespace, object.name))
  const { data = {} } = (getCached(maps, object) ?? {}) as { data?: { [name: string]: string } }
  const now = maps.clock.now()
  const certificates = (name: string, own: readonly string[]) => set(name, joinCertificates(own, data[name] ?? '', now))
  const names = (name: string, own: readonly string[]) =>
    set(name, JSON.stringify([...new Set([...own, ...readNames(data[name])])]))
  const trust = proxy()
  const requiredData: JsonObject = {
    ...certificates('client-ca-file', clientAuthorities()),
    ...(trust && {
      ...certificates('requestheader-client-ca-file', trust.authorities),
      ...names('requestheader-username-headers', trust.usernameHeaders),
      ...(trust.uidHeaders.length > 0 ? names('requestheader-uid-headers', trust.uidHeaders) : {}),
      ...names('requestheader-group-headers', trust.groupHeaders),
      ...names('requestheader-extra-headers-prefix', trust.extraPrefixes),
      ...names('requestheader-allowed-names', trust.allowedNames),
    }),
  }
  await createMissing(maps, object, { data: requiredData })
  await changeFields(maps, object, { data: { ...data, ...requiredData } })
}

function set(name: string, value: string): { [name: string]: string } {
  return { [name]: value }
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Merges this server's certificates with those that other servers have added. Drops expired certificates. */
function joinCertificates(own: readonly string[], present: string, now: number): string {
  const others = (present.match(pemBlock) ?? []).filter((pem) => isValid(pem, now))
  return [...new Set([...own, ...others].map((pem) => pem.trim()))].map((pem) => `${pem}\n`).join('')
}

function isValid(pem: string, now: number): boolean {
  try {
    return new X509Certificate(pem).validToDate.getTime() > now
  } catch {
    return false
  }
}

/**
 * Parses a JSON array of names. Skips elements that are not strings. Returns an empty list if the text is not a JSON
 * array.
 */
function readNames(text = '[]'): string[] {
  try {
    const names: unknown = JSON.parse(text)
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}
