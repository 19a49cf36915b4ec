/**
 * Secrets shared by all servers on one store, so that the servers form a cluster without exchanging files: the CA, the
 * service account key and the continue-token key. The first server creates the secrets with a compare-and-set, and all
 * other servers use them. The secrets are stored next to the objects (`meta/...`), where no API request can reach them.
 * Like Secrets, they are readable by anyone who can read the store, unless Secrets are encrypted. In that case, these
 * secrets are also encrypted.
 *
 * With an embedded store, the CA is not shared and exists only in files in the data directory.
 */
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { type AuthorityOptions, adoptCa, type CertifiedKey, openAuthority } from '../../api/pki/authority.ts'
import { generateKey, keyToPem } from '../../api/pki/keys.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Store, StoreError } from '../../storage/store/store.ts'
import type { ServerOptions } from '../flags/options.ts'

/** Store key of the cluster CA. */
export const authorityKey = 'meta/authority'
/** Store key of the front-proxy CA, which issues client certificates for requests to aggregated API servers. */
export const proxyAuthorityKey = 'meta/front-proxy-authority'
const tokenKey = 'meta/service-account-key'
const continueKey = 'meta/continue-key'
const continueKeyBytes = 32

/** Store keys that contain secrets of the cluster. */
export const sharedSecrets: readonly string[] = [authorityKey, proxyAuthorityKey, tokenKey, continueKey]

/**
 * Whether a value has the format of the secret under this key. Bytes decrypted with the wrong key do not have this
 * format.
 */
export function isSharedSecret(key: string, value: Buffer): boolean {
  if (key === continueKey) return value.length === continueKeyBytes
  const text = value.toString('latin1')
  return key === tokenKey ? text.startsWith('-----BEGIN ') : text.startsWith('{"certificate":')
}

/**
 * Returns the value of a key, creating it on first use. If several servers create the value at the same time, all of
 * them use the first value.
 */
export async function settledValue(store: Store, key: string, make: () => Buffer | Promise<Buffer>): Promise<Buffer> {
  const storedEntry = await store.get(key)
  if (storedEntry !== undefined) return Buffer.from(storedEntry.value)
  const value = await make()
  const result = await store.commit({ key, expected: 0, value })
  return result.outcome === 'committed' ? value : Buffer.from(result.current!.value)
}

/** Returns the secret that authenticates continue tokens, creating it on first use. */
export async function continueTokenKey(store: Store): Promise<Buffer> {
  const key = await settledValue(store, continueKey, () => randomBytes(continueKeyBytes))
  if (key.length !== continueKeyBytes) throw damaged('the continue-token key', continueKey)
  return key
}

/** Returns the service account token key in PEM format. */
export async function tokenKeyIn(store: Store): Promise<string> {
  const pem = (await settledValue(store, tokenKey, () => Buffer.from(keyToPem(generateKey())))).toString()
  if (!isPrivateKey(pem)) throw damaged('the service account token key', tokenKey)
  return pem
}

function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem)
    return true
  } catch {
    // Ignore the parse error, because its message might quote the key.
    return false
  }
}

/**
 * Writes the cluster's CA to the data directory of this server, before the server signs any certificate. The first
 * server on a store stores its own CA, so that an existing CA remains in use.
 */
export async function shareAuthority(options: ServerOptions, store: Store, clock: Clock): Promise<void> {
  const authority = { directory: join(options.dataDir, 'pki'), clock }
  await share(options, store, { authority, key: authorityKey, what: 'the cluster CA' })
}

/**
 * Shares the front-proxy CA between servers, as `shareAuthority` does with the cluster's CA. Backends trust only one CA
 * for proxied requests, no matter which server sends them.
 */
export async function shareProxyAuthority(
  options: ServerOptions,
  store: Store,
  authority: AuthorityOptions,
): Promise<void> {
  await share(options, store, { authority, key: proxyAuthorityKey, what: 'the front-proxy CA' })
}

interface SharedAuthority {
  readonly authority: AuthorityOptions
  readonly key: string
  readonly what: string
}

async function share({ etcdServers }: ServerOptions, store: Store, shared: SharedAuthority): Promise<void> {
  if (etcdServers.length === 0) return
  const pair = await settledValue(store, shared.key, async () => {
    const { certificate, key } = await openAuthority(shared.authority)
    return Buffer.from(JSON.stringify({ certificate, key }))
  })
  await adoptCa(shared.authority.directory, readPair(pair, shared))
}

function readPair(value: Buffer, { what, key: storeKey }: SharedAuthority): CertifiedKey {
  try {
    const { certificate, key } = JSON.parse(value.toString())
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
    if (isPair) return { certificate, key }
  } catch {
    // Throw a new error without a cause, because the original message might quote the key.
  }
  throw damaged(what, storeKey)
}

function damaged(what: string, key: string): StoreError {
  return new StoreError(
    `the value stored as ${what} (${key}) is invalid: restore or delete it; if the value is encrypted, start with --encryption-provider-config`,
  )
}
