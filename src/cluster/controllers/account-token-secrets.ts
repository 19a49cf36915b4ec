/**
 * Creates a token Secret for each service account that has no token Secret, and lists the Secret in the account's
 * `secrets`. Runs only with `--create-token-secrets`, because tokens that never expire are a security risk.
 *
 * The Secret is created before it is listed in the account. If the process is killed between these two writes, the next
 * pass lists the existing Secret instead of creating another.
 */

import type { Secret } from '../../api/kinds/core/secret.ts'
import type { ServiceAccount } from '../../api/kinds/core/service-account.ts'
import { generateName } from '../../api/model/generate-name.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import type { ObjectName } from '../../client/requests/resource-type.ts'
import { isIgnorableCreateError } from './ignorable-create-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface TokenSecretMaking {
  readonly client: Client
  readonly vendor: Vendor
  /** An informer for service account token Secrets only. */
  readonly secrets: Informer<Secret>
  readonly accounts: Informer<ServiceAccount>
}

export async function ensureTokenSecret(
  parts: TokenSecretMaking,
  name: ObjectName,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const cachedAccount = parts.accounts.get(name)
  if (cachedAccount === undefined || hasListed(parts, cachedAccount, parts.secrets.objects())) return 'done'
  // The cache may be stale. The account and its Secrets are therefore read from the server, to avoid creating a second
  // Secret.
  const account = await ignoreNotFound(parts.client.get(kinds.ServiceAccount, name, { signal }))
  if (account === undefined || account.metadata.deletionTimestamp !== undefined) return 'done'
  const { namespace = '' } = account.metadata
  const fieldSelector = `type=${vendorKey(parts.vendor, 'service-account-token')}`
  const { items } = await parts.client.list(kinds.Secret, { namespace, fieldSelector, signal })
  if (hasListed(parts, account, items)) return 'done'
  const own = items.filter((secret) => isOf(parts.vendor, secret, account)).map(({ metadata }) => metadata.name!)
  const secret = own.sort()[0] ?? (await make(parts, account, signal))
  if (secret !== undefined) await list(parts, account, { secret, signal })
  return 'done'
}

/** Whether the account lists one of these Secrets and that Secret contains a token for the account. */
function hasListed({ vendor }: TokenSecretMaking, account: ServiceAccount, currentSecrets: Iterable<Secret>): boolean {
  const secretNames = new Set((account.secrets ?? []).map((each) => each.name))
  for (const secret of currentSecrets)
    if (secretNames.has(secret.metadata.name) && isOf(vendor, secret, account)) return true
  return false
}

function isOf(vendor: Vendor, { metadata }: Secret, account: ServiceAccount): boolean {
  const { annotations = {}, namespace } = metadata
  return (
    namespace === account.metadata.namespace &&
    annotations[vendorKey(vendor, 'service-account.name')] === account.metadata.name &&
    annotations[vendorKey(vendor, 'service-account.uid')] === account.metadata.uid
  )
}

/**
 * Creates an empty token Secret and returns its name, or undefined if the namespace is terminating. The
 * serviceaccount-token loop fills the Secret.
 */
async function make(
  { client, vendor }: TokenSecretMaking,
  { metadata: { namespace = '', name = '', uid = '' } }: ServiceAccount,
  signal: AbortSignal,
): Promise<string | undefined> {
  const annotations = {
    [vendorKey(vendor, 'service-account.name')]: name,
    [vendorKey(vendor, 'service-account.uid')]: uid,
  }
  const metadata = { namespace, name: generateName(`${name}-token-`), annotations }
  const type = vendorKey(vendor, 'service-account-token')
  try {
    await client.create(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type }, { signal })
    return metadata.name
  } catch (error) {
    if (isIgnorableCreateError(error)) return undefined
    throw error
  }
}

/** Removes deleted Secrets from an account's list. */
export async function unlist(
  { client }: Pick<TokenSecretMaking, 'client'>,
  name: ObjectName,
  { names, signal }: { names: ReadonlySet<string>; signal: AbortSignal },
): Promise<void> {
  const change = (now: ServiceAccount): ServiceAccount | undefined => {
    const remainingSecrets = (now.secrets ?? []).filter((each) => !names.has(each.name ?? ''))
    return remainingSecrets.length === (now.secrets ?? []).length ? undefined : { ...now, secrets: remainingSecrets }
  }
  await ignoreNotFound(changeObject(client, kinds.ServiceAccount, { name, change, signal }))
}

async function list(
  { client }: TokenSecretMaking,
  { metadata: { namespace = '', name = '', uid } }: ServiceAccount,
  { secret, signal }: { secret: string; signal: AbortSignal },
): Promise<void> {
  const change = (now: ServiceAccount): ServiceAccount | undefined => {
    const currentSecrets = now.secrets ?? []
    if (now.metadata.uid !== uid || currentSecrets.some((each) => each.name === secret)) return undefined
    return { ...now, secrets: [...currentSecrets, { name: secret }] }
  }
  await ignoreNotFound(changeObject(client, kinds.ServiceAccount, { name: { namespace, name }, change, signal }))
}
