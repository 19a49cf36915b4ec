/**
 * Reads an encryption configuration: a document of kind `EncryptionConfiguration` in `apiserver.config.<vendor>/v1`, in
 * the format that kube-apiserver uses. For each resource, the first provider encrypts values, and all providers can
 * decrypt them.
 */
import { isObject, type Json, own } from '../../api/json/json.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { readConfiguration } from '../../api/schema/read-configuration.ts'
import { field, s } from '../../api/schema/schema.ts'
import type { Encrypted } from './encrypted-store.ts'
import {
  aescbc,
  aesgcm,
  type Cipher,
  ciphers,
  identity,
  keyLengths,
  type Provider,
  type StoredValueCheck,
  secretbox,
} from './providers.ts'

const entry = s.object({
  resources: field(1, s.list(s.string()), { required: true, doc: 'Resources, such as secrets or deployments.apps.' }),
  providers: field(2, s.list(s.any()), { required: true, doc: 'Encryption providers; the first one encrypts.' }),
})
const fields = {
  resources: field(1, s.list(entry), { required: true, doc: 'Resources to encrypt and their providers.' }),
}

/** Settings for reading an encryption configuration: the vendor, and the check of decrypted values. */
export interface EncryptionNames {
  readonly vendor: Vendor
  /** Returns the key prefix of a resource's objects. The resource is written as `secrets` or `deployments.apps`. */
  readonly prefixOf: (resource: string) => string
  /**
   * Whether a decrypted value looks like a value that this program wrote. Decryption with a wrong `aescbc` key can
   * succeed and return garbage.
   */
  readonly isStoredValue: StoredValueCheck
  /**
   * Whether several keys may share a name, as long as the name of the encrypting key is unique. Set only by the command
   * that rewrites a store, which repairs such a configuration.
   */
  readonly allowsSharedOldNames?: boolean
}

/** Reads the providers by key prefix. Throws an Error that describes the fault and never quotes a key. */
export async function readEncryption(value: Json, names: EncryptionNames): Promise<Encrypted> {
  const { vendor, prefixOf } = names
  const form = { vendor, group: 'apiserver.config', versions: ['v1'], kind: 'EncryptionConfiguration', fields }
  const { resources: entries = [] } = readConfiguration(value, form)
  const encrypted = new Map<string, readonly Provider[]>()
  for (const [i, { resources = [], providers: entryProviders = [] }] of entries.entries()) {
    const place = `resources[${i}]`
    if (entryProviders.length === 0) throw new Error(`${place}.providers: at least one provider is required`)
    const providerLists = await Promise.all(
      entryProviders.map((each, j) => readProvider(each, `${place}.providers[${j}]`, names)),
    )
    const keys = providerLists.flat()
    assertOwnNames(keys, names)
    const providers = keys.map(({ provider }) => provider)
    for (const [j, resource] of resources.entries()) {
      if (resource.includes('*')) throw new Error(`${place}.resources[${j}]: specify each resource, without wildcards`)
      const prefix = prefixOf(resource)
      if (encrypted.has(prefix)) throw new Error(`${place}.resources[${j}]: ${resource} is specified twice`)
      encrypted.set(prefix, providers)
    }
  }
  return encrypted
}

/** A provider with one key, and the key's path in the configuration. */
interface ReadKey {
  readonly provider: Provider
  readonly place: string
  readonly cipher?: Cipher
  readonly name?: string
}

/**
 * Requires all keys to have different names. Stored values contain only the name of their key. If two keys had the same
 * name, it would be unclear which key is still needed.
 */
function assertOwnNames(keys: readonly ReadKey[], { allowsSharedOldNames = false }: EncryptionNames): void {
  for (const [i, { cipher, name, place, provider }] of keys.entries()) {
    const first = keys.findIndex((other) => other.provider.marker === provider.marker)
    if (cipher === undefined || first === i || (allowsSharedOldNames && first > 0)) continue
    throw new Error(
      `${place}.name: two ${cipher} keys have the name ${JSON.stringify(name)}. If values are encrypted with both, put a new key with another name first and run "orch encryption rewrite", then remove both`,
    )
  }
}

async function readProvider(value: Json, place: string, names: EncryptionNames): Promise<ReadKey[]> {
  const members = isObject(value) ? Object.keys(value) : []
  if (!isObject(value) || members.length !== 1) throw new Error(`${place}: specify exactly one provider`)
  const [name = ''] = members
  if (name === 'identity') return [{ provider: identity, place }]
  if (name === 'kms')
    throw new Error(
      `${place}: kms is not supported: use ${ciphers.join(' or ')}, with a key from a file that you protect`,
    )
  const cipher = ciphers.find((each) => each === name)
  if (cipher === undefined) throw new Error(`${place}: unknown provider ${JSON.stringify(name)}`)
  const settings = own(value, name)
  const keys = isObject(settings) ? own(settings, 'keys') : undefined
  if (!Array.isArray(keys) || keys.length === 0) throw new Error(`${place}.${name}.keys: at least one key is required`)
  const keyPath = (i: number) => `${place}.${name}.keys[${i}]`
  return await Promise.all(keys.map((key, i) => readKey(key, { cipher, place: keyPath(i), names })))
}

interface KeyPlace {
  readonly cipher: Cipher
  readonly place: string
  readonly names: EncryptionNames
}

async function readKey(value: Json, { cipher, place, names }: KeyPlace): Promise<ReadKey> {
  const [name, secret] = isObject(value) ? [own(value, 'name'), own(value, 'secret')] : []
  if (typeof name !== 'string' || name === '' || name.includes(':'))
    throw new Error(`${place}.name: must be a name without a colon`)
  if (typeof secret !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new Error(`${place}.secret: must be base64`)
  const key = Buffer.from(secret, 'base64')
  if (!keyLengths[cipher].includes(key.length))
    throw new Error(
      `${place}.secret: ${cipher} requires a key with ${keyLengths[cipher].join(' or ')} bytes, not ${key.length}`,
    )
  const marker = `${names.vendor.encryptionWord}:enc:${cipher}:v1:${name}:`
  return { provider: await makers[cipher](marker, key, names.isStoredValue), place, cipher, name }
}

type MakeProvider = (marker: string, key: Buffer, isStoredValue: StoredValueCheck) => Provider | Promise<Provider>

const makers: { readonly [C in Cipher]: MakeProvider } = { aesgcm, aescbc, secretbox }
