/** Encryption at rest, as configured by `--encryption-provider-config`. */

import { isStoredForm } from '../../api/codec/stored.ts'
import { groupId, type Vendor, vendorOf } from '../../api/model/vendor.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { messageOf } from '../../base/text/errors.ts'
import { prefixOf } from '../../storage/cache/caches.ts'
import type { Encrypted } from '../../storage/encryption/encrypted-store.ts'
import { identity } from '../../storage/encryption/providers.ts'
import type { EncryptionNames } from '../../storage/encryption/read-configuration.ts'
import { isSharedSecret, sharedSecrets } from '../certificates/shared-keys.ts'
import type { ServerOptions } from '../flags/options.ts'
import { readFlagFile } from '../flags/read-flag-file.ts'

const flagName = 'encryption-provider-config'

/**
 * Reads the configuration. Returns the providers by key prefix, or undefined if the flag is not set. Throws UsageError
 * if the file is invalid.
 */
export async function readEncryptionFile(
  options: Pick<ServerOptions, 'encryptionProviderConfig' | 'profile'>,
  reading: Pick<EncryptionNames, 'allowsSharedOldNames'> = {},
): Promise<Encrypted | undefined> {
  const file = options.encryptionProviderConfig
  if (file === '') return undefined
  const text = readFlagFile(flagName, file)
  const [{ parseYaml }, { readEncryption }] = await Promise.all([
    import('../../api/codec/yaml.ts'),
    import('../../storage/encryption/read-configuration.ts'),
  ])
  const vendor = vendorOf(options.profile)
  try {
    const { value } = parseYaml(Buffer.from(text), 4 * text.length)
    const names = {
      vendor,
      prefixOf: (resource: string) => resourcePrefix(resource, vendor),
      isStoredValue,
      ...reading,
    }
    return withSharedSecrets(await readEncryption(value, names))
  } catch (error) {
    throw new UsageError(`--${flagName}: ${file}: ${messageOf(error)}`)
  }
}

function isStoredValue(key: string, value: Buffer): boolean {
  return sharedSecrets.includes(key) ? isSharedSecret(key, value) : isStoredForm(key, value)
}

/** Returns the storage prefix of a resource such as `secrets` or `deployments.apps`. */
function resourcePrefix(resource: string, vendor: Vendor): string {
  const dot = resource.indexOf('.')
  const [plural, group] = dot < 0 ? [resource, ''] : [resource.slice(0, dot), resource.slice(dot + 1)]
  return prefixOf(groupId(vendor, group), plural)
}

/**
 * If Secrets are encrypted, also encrypts the cluster's own secrets, by adding their store keys to the encrypted
 * prefixes. Secrets that were stored unencrypted remain readable.
 */
function withSharedSecrets(encrypted: Encrypted): Encrypted {
  const ofSecrets = encrypted.get(prefixOf('core', 'secrets'))
  if (ofSecrets === undefined) return encrypted
  return new Map([...encrypted, ...sharedSecrets.map((key) => [key, [...ofSecrets, identity]] as const)])
}
