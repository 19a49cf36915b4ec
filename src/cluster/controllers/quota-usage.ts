/** Computes the quota usage of a namespace by listing its objects. */

import type { ResourceQuota } from '../../api/kinds/core/resource-quota.ts'
import type { Quantity } from '../../api/model/quantity.ts'
import { type Amounts, addTo, only, readAmounts, wholes, writeAmounts } from '../../api/model/quota/amounts.ts'
import { counts } from '../../api/model/quota/scopes.ts'
import {
  type CountedType,
  isCounted,
  typeCounted,
  type UsageContext,
  usageOf,
  usageVaries,
} from '../../api/model/quota/usage.ts'
import type { Client } from '../../client/requests/client.ts'
import { collectionPath, type ResourceType } from '../../client/requests/resource-type.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface Counting extends UsageContext {
  readonly client: Client
  readonly namespace: string
  readonly spec: NonNullable<ResourceQuota['spec']>
  readonly signal: AbortSignal
}

/** Returns the current usage of the named resources, formatted as quantities. */
export async function countUsage(counting: Counting, names: readonly string[]): Promise<{ [name: string]: string }> {
  const used = readAmounts(Object.fromEntries(names.map((name) => [name, '0'])))
  for (const [type, ofType] of byType(names, counting)) {
    const usage = usageVaries(type, counting.vendor)
      ? await addUp(counting, type)
      : await countObjects(counting, type, ofType)
    addTo(used, only(usage, Object.fromEntries(ofType.map((name) => [name, '']))))
  }
  return writeAmounts(used)
}

function byType(names: readonly string[], { vendor }: Counting): Map<CountedType, string[]> {
  const types = new Map<string, CountedType>()
  const namesByType = new Map<CountedType, string[]>()
  for (const name of names) {
    const counted = typeCounted(name, vendor)
    if (!isCounted(counted, vendor)) continue
    const key = `${counted.plural}.${counted.group}`
    const type = types.get(key) ?? counted
    types.set(key, type)
    namesByType.set(type, [...(namesByType.get(type) ?? []), name])
  }
  return namesByType
}

async function addUp(counting: Counting, type: CountedType): Promise<Amounts> {
  const { client, namespace, spec, signal } = counting
  const sum = new Map<string, Quantity>()
  // Older servers do not serve the type, so its usage is zero.
  if (!(await versionsOf(client, type, signal)).includes('v1')) return sum
  const listedType: ResourceType = { ...type, version: 'v1', namespaced: true }
  for await (const { items } of client.pages(listedType, { namespace, signal }))
    for (const object of items) if (counts(spec, type, object)) addTo(sum, usageOf(type, object, counting))
  return sum
}

/**
 * Counts the objects of a type for its object-count resources. Quota scopes apply only to pods, so the count is zero if
 * the quota has scopes.
 */
async function countObjects(counting: Counting, type: CountedType, names: readonly string[]): Promise<Amounts> {
  const { scopes = [], scopeSelector } = counting.spec
  const scoped = scopes.length > 0 || (scopeSelector?.matchExpressions ?? []).length > 0
  const count = wholes(scoped ? 0 : await numberOf(counting, type))
  return new Map(names.map((name) => [name, count]))
}

/**
 * Returns the number of objects of a type by listing a single object and adding the `remainingItemCount`. Returns 0 for
 * a type that is not served.
 */
async function numberOf({ client, namespace, signal }: Counting, type: CountedType): Promise<number> {
  for (const version of await versionsOf(client, type, signal)) {
    const path = collectionPath({ ...type, version, namespaced: true }, namespace)
    const list = await ignoreNotFound(client.read<Listed>(path, { query: { limit: 1 }, signal }))
    if (list !== undefined) return list.items.length + (list.metadata.remainingItemCount ?? 0)
  }
  return 0
}

interface Listed {
  readonly items: readonly unknown[]
  readonly metadata: { readonly remainingItemCount?: number }
}

interface Group {
  readonly versions: readonly { readonly version: string }[]
}

async function versionsOf(client: Client, { group }: CountedType, signal: AbortSignal): Promise<string[]> {
  if (group === '') return ['v1']
  const servedGroup = await ignoreNotFound(client.read<Group>(`/apis/${encodeURIComponent(group)}`, { signal }))
  return (servedGroup?.versions ?? []).map(({ version }) => version)
}
