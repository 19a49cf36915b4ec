/**
 * The secrets that all servers on one store share, so that they are one cluster without being handed files: the CA, the
 * key of service account tokens, the key of continue tokens. Whoever starts first makes them, by compare-and-set; all
 * others use those. They lie beside the objects (`meta/...`), where no request of the API reaches; whoever can read the
 * store itself can read them, as it can read every Secret. Where Secrets are encrypted, so are they.
 *
 * The embedded store shares its CA with nobody: there the files in the data directory are all there is.
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
/** Store key of the CA that issues the client certificate for aggregated API servers. */
export const proxyAuthorityKey = 'meta/front-proxy-authority'
const tokenKey = 'meta/service-account-key'
const continueKey = 'meta/continue-key'
const continueKeyBytes = 32

/** The keys in the store that hold secrets of the cluster. */
export const sharedSecrets: readonly string[] = [authorityKey, proxyAuthorityKey, tokenKey, continueKey]

/** Whether a value can be the secret under this key, judged by its form. Bytes decrypted with a wrong key cannot. */
export function isSharedSecret(key: string, value: Buffer): boolean {
  if (key === continueKey) return value.length === continueKeyBytes
  const text = value.toString('latin1')
  return key === tokenKey ? text.startsWith('-----BEGIN ') : text.startsWith('{"certificate":')
}

/** The value of a key, made on first use; when several servers make it at once, all use the first one's. */
export async function settledValue(store: Store, key: string, make: () => Buffer | Promise<Buffer>): Promise<Buffer> {
  const found = await store.get(key)
  if (found !== undefined) return Buffer.from(found.value)
  const value = await make()
  const result = await store.commit({ key, expected: 0, value })
  return result.outcome === 'committed' ? value : Buffer.from(result.current!.value)
}

/** The key that continue tokens are signed with. */
export async function continueTokenKey(store: Store): Promise<Buffer> {
  const key = await settledValue(store, continueKey, () => randomBytes(continueKeyBytes))
  if (key.length !== continueKeyBytes) throw damaged('the key of continue tokens', continueKey)
  return key
}

/** The key of service account tokens, as PEM. */
export async function tokenKeyIn(store: Store): Promise<string> {
  const pem = (await settledValue(store, tokenKey, () => Buffer.from(keyToPem(generateKey())))).toString()
  if (!isPrivateKey(pem)) throw damaged('the key of service account tokens', tokenKey)
  return pem
}

function isPrivateKey(pem: string): boolean {
  try {
    createPrivateKey(pem)
    return true
  } catch {
    // What is wrong with it might quote the key.
    return false
  }
}

/**
 * Puts the CA of the cluster into the data directory of this server, before anything there is signed. A server that
 * comes first to a store gives its own, so that one that had a CA before keeps it.
 */
export async function shareAuthority(options: ServerOptions, store: Store, clock: Clock): Promise<void> {
  const authority = { directory: join(options.dataDir, 'pki'), clock }
  await share(options, store, { authority, key: authorityKey, what: 'the CA of the cluster' })
}

/** The same for the CA of the front proxy: backends know one, whichever server passes a request on. */
export async function shareProxyAuthority(
  options: ServerOptions,
  store: Store,
  authority: AuthorityOptions,
): Promise<void> {
  await share(options, store, { authority, key: proxyAuthorityKey, what: 'the CA of the front proxy' })
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
    // What is wrong with it might quote the key.
  }
  throw damaged(what, storeKey)
}

function damaged(what: string, key: string): StoreError {
  return new StoreError(
    `what the store holds as ${what} (${key}) is none: restore it, or delete it; if it is encrypted, start with --encryption-provider-config`,
  )
}
