/**
 * Fills service account token Secrets. A user creates a Secret of that type, annotated with the name of an account, and
 * the loop adds the token, the CA and the namespace. The loop deletes a Secret if its account no longer exists or was
 * replaced by another account with the same name, and removes deleted Secrets from the account's list. Accounts get no
 * Secret automatically unless `makeSecrets` is set (`account-token-secrets.ts`).
 *
 * Another manager may briefly run this loop at the same time, and an account may be deleted and recreated. Therefore
 * the loop reads the account from the store before it fills a Secret, and fills only Secrets that name this account's
 * UID or no UID. A UID that another server wrote is kept.
 */

import type { Secret } from '../../api/kinds/core/secret.ts'
import type { ServiceAccount } from '../../api/kinds/core/service-account.ts'
import { checkDnsSubdomain } from '../../api/model/names.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey, type ObjectName, objectKey } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { ensureTokenSecret, unlist } from './account-token-secrets.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

/** Returns the Secret type for service account tokens. */
export function tokenSecretType(vendor: Vendor): string {
  return vendorKey(vendor, 'service-account-token')
}

export interface TokenSecretParts {
  readonly client: Client
  readonly vendor: Vendor
  /** An informer for service account token Secrets only. */
  readonly secrets: Informer<Secret>
  readonly accounts: Informer<ServiceAccount>
  /** Returns the CA certificates (PEM) that clients use to verify the server, or '' if the certificates are unknown. */
  readonly authority: () => string
  readonly issue: LegacyTokenOf
  /** Whether every account gets a token Secret automatically. */
  readonly makeSecrets?: boolean
}

/** Signs a token of the account for this Secret. */
export type LegacyTokenOf = (token: {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly secret: string
}) => Promise<string>

export function tokenSecretLoop(parts: TokenSecretParts): Loop {
  const goneSecrets: GoneSecrets = new Map()
  return {
    name: 'serviceaccount-token',
    sources: [
      fromInformer(parts.secrets),
      fromInformer(parts.accounts, ({ previous, object }) => secretsOf(parts, (object ?? previous)!)),
      fromInformer(parts.secrets, ({ previous, object }) =>
        object === undefined && previous !== undefined ? [noteGone(parts, goneSecrets, previous)] : [],
      ),
      ...(parts.makeSecrets ? [fromInformer(parts.accounts, ({ key }) => [accountPrefix + key])] : []),
    ],
    reconcile: async (key, signal) => {
      if (!key.startsWith(accountPrefix)) return await reconcile(parts, key, signal)
      return await reconcileAccount(parts, goneSecrets, { account: key.slice(accountPrefix.length), signal })
    },
  }
}

/** Names of deleted Secrets that accounts may still list, by account key. */
type GoneSecrets = Map<string, Set<string>>

/** Prefix of account keys. No namespace name contains a colon. */
const accountPrefix = 'account:'

function noteGone(parts: TokenSecretParts, goneSecrets: GoneSecrets, secret: Secret): string {
  const { namespace, name = '' } = secret.metadata
  const account = `${namespace}/${accountOf(parts, secret)}`
  goneSecrets.set(account, (goneSecrets.get(account) ?? new Set()).add(name))
  return accountPrefix + account
}

/**
 * Reconciles an account. Removes a deleted Secret from the account's list before creating a new Secret, so that the
 * account never lists both.
 */
async function reconcileAccount(
  parts: TokenSecretParts,
  goneSecrets: GoneSecrets,
  { account, signal }: { account: string; signal: AbortSignal },
): Promise<StepOutcome> {
  const name = nameOfKey(account)
  const { namespace = '' } = name
  const noted = [...(goneSecrets.get(account) ?? [])]
  const names = await missingSecrets(parts, { namespace, names: noted, signal })
  if (names.size > 0 && parts.accounts.get(name) !== undefined) await unlist(parts, name, { names, signal })
  for (const each of noted) goneSecrets.get(account)?.delete(each)
  if (goneSecrets.get(account)?.size === 0) goneSecrets.delete(account)
  return parts.makeSecrets ? await ensureTokenSecret(parts, name, signal) : 'done'
}

/**
 * Returns the names of Secrets that do not exist in the store. Checks each Secret, because a restore from a backup may
 * have brought some of them back.
 */
async function missingSecrets(
  { client }: TokenSecretParts,
  { namespace, names, signal }: { namespace: string; names: readonly string[]; signal: AbortSignal },
): Promise<Set<string>> {
  const missing = new Set<string>()
  for (const name of names)
    if ((await ignoreNotFound(client.get(kinds.Secret, { namespace, name }, { signal }))) === undefined)
      missing.add(name)
  return missing
}

/** Yields the keys of an account's token Secrets. */
function* secretsOf(parts: TokenSecretParts, { metadata }: ServiceAccount): Generator<string> {
  for (const secret of parts.secrets.objects()) {
    const isOf = secret.metadata.namespace === metadata.namespace && accountOf(parts, secret) === metadata.name
    if (isOf) yield objectKey(secret)
  }
}

function accountOf({ vendor }: TokenSecretParts, { metadata }: ApiObject): string {
  return metadata.annotations?.[vendorKey(vendor, 'service-account.name')] ?? ''
}

async function reconcile(parts: TokenSecretParts, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const secret = parts.secrets.get(nameOfKey(key))
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done'
  const name = { namespace: secret.metadata.namespace ?? '', name: accountOf(parts, secret) }
  const cachedAccount = parts.accounts.get(name)
  if (cachedAccount !== undefined && isFilled(parts, secret, cachedAccount)) return 'done'
  const account = await recentAccount(parts, name, signal)
  if (account === undefined || !isOf(parts, secret, account)) await remove(parts, secret, signal)
  else if (!isFilled(parts, secret, account)) await fill(parts, secret, { account, signal })
  return 'done'
}

/** Reads the account of a Secret from the store. An annotation that is not a valid account name matches no account. */
async function recentAccount(
  { client }: TokenSecretParts,
  name: ObjectName,
  signal: AbortSignal,
): Promise<ServiceAccount | undefined> {
  if (checkDnsSubdomain(name.name).length > 0) return undefined
  return await ignoreNotFound(client.get(kinds.ServiceAccount, name, { signal }))
}

/** Whether a Secret belongs to an account. A Secret without a UID belongs to the current account with that name. */
function isOf(parts: TokenSecretParts, secret: Secret, { metadata }: ServiceAccount): boolean {
  const uid = secret.metadata.annotations?.[vendorKey(parts.vendor, 'service-account.uid')] ?? ''
  return accountOf(parts, secret) === metadata.name && (uid === '' || uid === metadata.uid)
}

/** Deletes the Secret if it is unchanged. If the Secret has changed, the change triggers this loop again. */
async function remove({ client }: TokenSecretParts, { metadata }: Secret, signal: AbortSignal): Promise<void> {
  const { uid = '', resourceVersion = '', namespace = '', name = '' } = metadata
  const deletion = client.delete(kinds.Secret, { namespace, name }, { preconditions: { uid, resourceVersion }, signal })
  await ignoreNotFound(deletion).catch((error: unknown) => {
    if (!isConflict(error)) throw error
  })
}

function isFilled(parts: TokenSecretParts, { data = {}, metadata }: Secret, account: ServiceAccount): boolean {
  const uid = metadata.annotations?.[vendorKey(parts.vendor, 'service-account.uid')]
  const others = fixedData(parts, metadata.namespace ?? '')
  const isComplete = Object.entries(others).every(([key, value]) => data[key] === value)
  return Boolean(data.token) && isComplete && uid === account.metadata.uid
}

function fixedData({ authority }: TokenSecretParts, namespace: string): { [key: string]: string } {
  const ca = authority()
  return { ...(ca === '' ? {} : { 'ca.crt': base64(ca) }), namespace: base64(namespace) }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Fills a Secret. Keeps an existing token, because clients may already use the token. */
async function fill(
  parts: TokenSecretParts,
  { metadata }: Secret,
  { account, signal }: { account: ServiceAccount; signal: AbortSignal },
): Promise<void> {
  const { namespace = '', name: secret = '', uid: secretUid } = metadata
  const { name = '', uid = '' } = account.metadata
  const token = await parts.issue({ namespace, name, uid, secret })
  const change = (now: Secret): Secret | undefined => {
    const isOurs = now.metadata.uid === secretUid && isOf(parts, now, account)
    if (!isOurs || isFilled(parts, now, account)) return undefined
    const annotations = { ...now.metadata.annotations, [vendorKey(parts.vendor, 'service-account.uid')]: uid }
    const data = { ...now.data, ...fixedData(parts, namespace), token: now.data?.token || base64(token) }
    return { ...now, metadata: { ...now.metadata, annotations }, data }
  }
  await ignoreNotFound(changeObject(parts.client, kinds.Secret, { name: { namespace, name: secret }, change, signal }))
}
