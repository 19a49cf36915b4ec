/**
 * Signs the ConfigMap `cluster-info` in the public namespace, so that a client that has only a bootstrap token can
 * verify the server. For each bootstrap token that may sign, the ConfigMap contains an entry `jws-kubeconfig-<id>`: a
 * detached JWS over the kubeconfig, signed with the token. Entries for tokens that are deleted, expired or not allowed
 * to sign are removed.
 *
 * A signature depends only on the kubeconfig and the token. It can be recomputed at any time and is written only if it
 * differs.
 */

import { createHmac } from 'node:crypto'
import type { ConfigMap } from '../../api/kinds/core/config-map.ts'
import {
  clusterInfo,
  signaturePrefix,
  signingKeyOf,
  tokenForm,
  tokenSecretName,
} from '../../api/model/bootstrap-token.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { endOf, type Secret, textIn } from './bootstrap-token-secrets.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface BootstrapSignerParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  /** Watches only the ConfigMap `cluster-info`. */
  readonly configMaps: Informer<ConfigMap>
  /** An informer for bootstrap token Secrets only. */
  readonly tokens: Informer<Secret>
}

const onlyKey = 'cluster-info'
/**
 * Maximum time, in milliseconds, before the loop checks the tokens again. The limit is needed because the system clock
 * may change.
 */
const maxWaitMs = 10 * 60_000

export function bootstrapSignerLoop(parts: BootstrapSignerParts): Loop {
  return {
    name: 'bootstrapsigner',
    sources: [fromInformer(parts.configMaps, () => [onlyKey]), fromInformer(parts.tokens, () => [onlyKey])],
    reconcile: (_key, signal) => reconcile(parts, signal),
  }
}

async function reconcile(parts: BootstrapSignerParts, signal: AbortSignal): Promise<StepOutcome> {
  const configMap = parts.configMaps.get(clusterInfo)
  if (configMap === undefined || configMap.metadata.deletionTimestamp !== undefined) return 'done'
  const now = parts.clock.now()
  const tokens = [...parts.tokens.objects()].filter((secret) => maySign(secret, now))
  const data = signed(parts.vendor, configMap, tokens)
  if (!sameData(configMap.data ?? {}, data)) await write(parts, { ...configMap, data }, signal)
  const nextEnd = Math.min(...tokens.map(endOf))
  return nextEnd === Number.POSITIVE_INFINITY ? 'done' : { afterMs: Math.min(Math.max(nextEnd - now, 1), maxWaitMs) }
}

/** Whether the Secret is a well-formed, unexpired bootstrap token that may sign. */
function maySign(secret: Secret, now: number): boolean {
  const id = textIn(secret, 'token-id')
  return (
    tokenForm.test(`${id}.${textIn(secret, 'token-secret')}`) &&
    secret.metadata.name === tokenSecretName(id) &&
    secret.metadata.deletionTimestamp === undefined &&
    textIn(secret, 'usage-bootstrap-signing') === 'true' &&
    now < endOf(secret)
  )
}

type Data = { [key: string]: string }

/**
 * Returns the ConfigMap's data with one signature for each of the given tokens. Signatures by other tokens are removed.
 */
function signed(vendor: Vendor, { data = {} }: ConfigMap, tokens: readonly Secret[]): Data {
  const others = Object.entries(data).filter(([key]) => !key.startsWith(signaturePrefix))
  const { kubeconfig } = data
  if (!kubeconfig) return Object.fromEntries(others)
  const signatures = tokens.map((secret) => {
    const id = textIn(secret, 'token-id')
    const key = textIn(secret, 'token-secret')
    return [`${signaturePrefix}${id}`, detachedSignature(kubeconfig, id, signingKeyOf(vendor, { id, secret: key }))]
  })
  return Object.fromEntries([...others, ...signatures])
}

/** Returns a JWS without its payload: `<header>..<signature>`. */
function detachedSignature(payload: string, id: string, key: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url')
  const content = `${header}.${Buffer.from(payload).toString('base64url')}`
  return `${header}..${createHmac('sha256', key).update(content).digest('base64url')}`
}

function sameData(one: Data, other: Data): boolean {
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key])
}

async function write({ client }: BootstrapSignerParts, next: ConfigMap, signal: AbortSignal): Promise<void> {
  try {
    await ignoreNotFound(client.update(kinds.ConfigMap, next, { signal }))
  } catch (error) {
    // A conflict needs no retry: the other client's change triggers this loop again.
    if (!isConflict(error)) throw error
  }
}
