/**
 * Reads an encryption configuration: a document of kind `EncryptionConfiguration` in `apiserver.config.<vendor>/v1`, as
 * users of kube-apiserver write it. For each resource the first provider encrypts, and all of them decrypt.
 */
import { isObject, type Json, own } from '../model/json.ts'
import type { Vendor } from '../model/vendor.ts'
import { readConfiguration } from '../schema/read-configuration.ts'
import { field, s } from '../schema/schema.ts'
import type { Encrypted } from './encrypted-store.ts'
import { aescbc, aesgcm, type Cipher, ciphers, identity, keyLengths, type Provider, secretbox } from './providers.ts'

const entry = s.object({
  resources: field(1, s.list(s.string()), { required: true, doc: 'Resources, such as secrets or deployments.apps.' }),
  providers: field(2, s.list(s.any()), { required: true, doc: 'Ways of encrypting; the first is used for writing.' }),
})
const fields = { resources: field(1, s.list(entry), { required: true, doc: 'What is encrypted, and how.' }) }

export interface EncryptionNames {
  readonly vendor: Vendor
  /** The beginning of the keys under which objects of a resource lie, such as `secrets` or `deployments.apps`. */
  readonly prefixOf: (resource: string) => string
}

/** The providers by the beginnings of keys. Throws an Error that says what is wrong; it never quotes a key. */
export async function readEncryption(value: Json, { vendor, prefixOf }: EncryptionNames): Promise<Encrypted> {
  const form = { vendor, group: 'apiserver.config', versions: ['v1'], kind: 'EncryptionConfiguration', fields }
  const { resources: entries = [] } = readConfiguration(value, form)
  const encrypted = new Map<string, readonly Provider[]>()
  for (const [i, { resources = [], providers: given = [] }] of entries.entries()) {
    const place = `resources[${i}]`
    if (given.length === 0) throw new Error(`${place}.providers: at least one is needed`)
    const made = await Promise.all(given.map((each, j) => readProvider(each, `${place}.providers[${j}]`, vendor)))
    for (const [j, resource] of resources.entries()) {
      if (resource.includes('*')) throw new Error(`${place}.resources[${j}]: name each resource, without wildcards`)
      const prefix = prefixOf(resource)
      if (encrypted.has(prefix)) throw new Error(`${place}.resources[${j}]: ${resource} is named twice`)
      encrypted.set(prefix, made.flat())
    }
  }
  return encrypted
}

async function readProvider(value: Json, place: string, vendor: Vendor): Promise<Provider[]> {
  const names = isObject(value) ? Object.keys(value) : []
  if (!isObject(value) || names.length !== 1) throw new Error(`${place}: a provider has one name`)
  const [name = ''] = names
  if (name === 'identity') return [identity]
  if (name === 'kms')
    throw new Error(
      `${place}: kms is not supported: use ${ciphers.join(' or ')}, with a key from a file that you protect`,
    )
  const cipher = ciphers.find((each) => each === name)
  if (cipher === undefined) throw new Error(`${place}: unknown provider ${JSON.stringify(name)}`)
  const settings = own(value, name)
  const keys = isObject(settings) ? own(settings, 'keys') : undefined
  if (!Array.isArray(keys) || keys.length === 0) throw new Error(`${place}.${name}.keys: at least one key is needed`)
  return await Promise.all(keys.map((key, i) => readKey(key, { cipher, place: `${place}.${name}.keys[${i}]`, vendor })))
}

interface KeyPlace {
  readonly cipher: Cipher
  readonly place: string
  readonly vendor: Vendor
}

async function readKey(value: Json, { cipher, place, vendor }: KeyPlace): Promise<Provider> {
  const [name, secret] = isObject(value) ? [own(value, 'name'), own(value, 'secret')] : []
  if (typeof name !== 'string' || name === '' || name.includes(':'))
    throw new Error(`${place}.name: a key needs a name without a colon`)
  if (typeof secret !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(secret))
    throw new Error(`${place}.secret: must be base64`)
  const key = Buffer.from(secret, 'base64')
  if (!keyLengths[cipher].includes(key.length))
    throw new Error(
      `${place}.secret: ${cipher} needs a key of ${keyLengths[cipher].join(', ')} bytes, not ${key.length}`,
    )
  const marker = `${vendor.encryptionWord}:enc:${cipher}:v1:${name}:`
  return await makers[cipher](marker, key)
}

const makers: { readonly [C in Cipher]: (marker: string, key: Buffer) => Provider | Promise<Provider> } = {
  ...{ aesgcm, aescbc, secretbox },
}
