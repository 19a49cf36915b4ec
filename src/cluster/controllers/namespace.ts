/**
 * Deletes the contents of a terminating namespace, then removes the finalizer.
 *
 * Each pass deletes the contents, lists the remaining objects and reports them in the status. When the namespace is
 * empty, the pass removes the finalizer and the server deletes the namespace. Otherwise the loop runs another pass
 * later. Passes share no state, so a restart loses nothing. No object can be added in the meantime, because a create
 * request requires an unchanged namespace.
 *
 * A restore of the store may undo the deletion at any moment. A pass therefore lists the objects first, reads the
 * namespace again, and then deletes exactly the listed objects. The deletion specifies the list's resourceVersion,
 * which a restore invalidates.
 */

import type { Namespace } from '../../api/kinds/core/namespace.ts'
import type { ApiObject } from '../../api/model/object.ts'
import { SharedLookup } from '../../base/concurrency/shared-lookup.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import { changeObject } from '../../client/informers/change-object.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client, List } from '../../client/requests/client.ts'
import { type DiscoveredType, discover } from '../../client/requests/discovery.ts'
import { metadataForm } from '../../client/requests/metadata-form.ts'
import { typeName } from '../../client/requests/resource-type.ts'
import { isConflict, isExpired } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'
import { conditionsOf, isEmpty, newSweep, type Sweep, withConditions } from './namespace-conditions.ts'

export interface NamespaceLoopParts {
  readonly client: Client
  readonly informer: Informer<Namespace>
  /** The finalizer in `spec.finalizers` that this loop removes. */
  readonly finalizer: string
  readonly clock: Clock
}

/**
 * Backoff between passes. The contents are polled rather than watched, so the maximum delay is also the longest polling
 * interval.
 */
const backoff = { firstMs: 50, longestMs: 10_000 }

export function namespaceLoop(parts: NamespaceLoopParts): Loop {
  return {
    name: 'namespace',
    sources: [fromInformer(parts.informer)],
    backoff,
    reconcile: (name, signal) => reconcile(parts, name, signal),
  }
}

async function reconcile(parts: NamespaceLoopParts, name: string, signal: AbortSignal): Promise<StepOutcome> {
  const cachedNamespace = parts.informer.get({ name })
  if (cachedNamespace === undefined || !isOurs(parts, cachedNamespace)) return 'done'
  // The cache may be stale, and the name may now belong to a different namespace.
  const namespace = await ignoreNotFound(parts.client.get(kinds.Namespace, { name }, { signal }))
  if (namespace === undefined || !isOurs(parts, namespace)) return 'done'
  const isGoing = new SharedLookup(() => isStillGoing(parts, namespace, signal))
  const sweep = await empty(parts, { name, isGoing: () => isGoing.ask(), signal })
  await report(parts, namespace, { sweep, signal })
  if (sweep.failures.length > 0)
    throw new Error(`cannot delete all content of namespace "${name}": ${sweep.failures.join('; ')}`)
  if (!isEmpty(sweep)) return 'later'
  if (isReleased(namespace)) await remove(parts, namespace, signal)
  else await release(parts, namespace, signal)
  return 'done'
}

/** Whether this namespace, as read from the server, still waits for this loop. */
async function isStillGoing(parts: NamespaceLoopParts, { metadata }: Namespace, signal: AbortSignal): Promise<boolean> {
  const now = await ignoreNotFound(parts.client.get(kinds.Namespace, { name: metadata.name! }, { signal }))
  return now !== undefined && now.metadata.uid === metadata.uid && isOurs(parts, now)
}

/** Whether the namespace is terminating and waits for this loop. */
function isOurs({ finalizer }: NamespaceLoopParts, namespace: Namespace): boolean {
  const { metadata, spec } = namespace
  if (metadata.deletionTimestamp === undefined) return false
  return isReleased(namespace) || (spec?.finalizers ?? []).includes(finalizer)
}

/** Whether all finalizers were removed before the deletion. Such a namespace needs a second delete request. */
function isReleased({ spec }: Namespace): boolean {
  return (spec?.finalizers ?? []).length === 0
}

/**
 * Number of types to process in parallel. Most types have no objects in the namespace, so the latency of requests
 * dominates.
 */
const typesAtOnce = 8

interface EmptiedNamespace {
  readonly name: string
  /** Returns whether the namespace is still terminating. Reads the namespace from the server on each call. */
  readonly isGoing: () => Promise<boolean>
  readonly signal: AbortSignal
}

/**
 * Deletes the contents of a namespace, pods first. Objects that pods rely on, such as network policies, remain until
 * all pods have stopped.
 */
async function empty({ client }: NamespaceLoopParts, place: EmptiedNamespace): Promise<Sweep> {
  const { types, failures } = await discover(client, { signal: place.signal })
  const sweep = newSweep(failures)
  const deletable = types.filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes('list') && verbs.includes('delete'),
  )
  const isPods = ({ group, plural }: DiscoveredType) => group === '' && plural === 'pods'
  for (const phase of [deletable.filter(isPods), deletable.filter((type) => !isPods(type))]) {
    for (let i = 0; i < phase.length; i += typesAtOnce)
      await Promise.all(phase.slice(i, i + typesAtOnce).map((type) => sweepType(client, type, { ...place, sweep })))
    if (sweep.remaining.size > 0) break
  }
  return sweep
}

/** Deletes the objects of one type. A failure does not affect other types. */
async function sweepType(
  client: Client,
  type: DiscoveredType,
  { name, isGoing, sweep, signal }: EmptiedNamespace & { readonly sweep: Sweep },
): Promise<void> {
  try {
    const place = { namespace: name, signal }
    const { items: some, resourceVersion } = await firstPage(client, type, place)
    if (some.length === 0) return
    if (!(await isGoing())) throw new Error('the namespace is no longer being deleted')
    await deleteAll(client, type, { ...place, resourceVersion, resourceVersionMatch: 'Exact' })
    const { items } = await client.list(type, { namespace: name, accept: metadataForm.list, signal })
    if (items.length > 0) sweep.remaining.set(typeName(type), items.length)
    for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? []))
      sweep.finalizers.set(finalizer, (sweep.finalizers.get(finalizer) ?? 0) + 1)
  } catch (error) {
    if (signal.aborted) throw error
    sweep.failures.push(`${typeName(type)}: ${messageOf(error)}`)
  }
}

/** Returns the resourceVersion of a list and the first object in the list, if any. */
async function firstPage(
  client: Client,
  type: DiscoveredType,
  place: { namespace: string; signal: AbortSignal },
): Promise<List<ApiObject>> {
  for await (const page of client.pages(type, { ...place, accept: metadataForm.list, limit: 1 })) return page
  return { items: [], resourceVersion: '' }
}

async function deleteAll(
  client: Client,
  type: DiscoveredType,
  listOptions: { namespace: string; signal: AbortSignal; resourceVersion: string; resourceVersionMatch: 'Exact' },
): Promise<void> {
  const { namespace, signal } = listOptions
  const propagationPolicy = 'Background' as const
  try {
    if (type.verbs.includes('deletecollection'))
      return await client.deleteCollection(type, { ...listOptions, propagationPolicy })
    for await (const { items } of client.pages(type, { ...listOptions, accept: metadataForm.list }))
      for (const { metadata } of items) {
        const { name = '', uid = '', resourceVersion = '' } = metadata
        const preconditions = { uid, resourceVersion }
        await ignoreNotFound(client.delete(type, { namespace, name }, { propagationPolicy, preconditions, signal }))
      }
  } catch (error) {
    // A conflict means that the object has changed since it was listed. The next pass deletes it.
    if (isConflict(error)) return
    // If the continue token has expired, the next pass deletes the remaining objects.
    if (!isExpired(error)) throw error
  }
}

interface Finding {
  readonly sweep: Sweep
  readonly signal: AbortSignal
}

async function report(parts: NamespaceLoopParts, namespace: Namespace, { sweep, signal }: Finding): Promise<void> {
  const now = parts.clock.now()
  await change(parts, namespace, {
    subresource: 'status',
    signal,
    change: (object) => {
      const conditions = withConditions(object.status?.conditions ?? [], conditionsOf(sweep), now)
      return conditions && { ...object, status: { ...object.status, conditions } }
    },
  })
}

async function release(parts: NamespaceLoopParts, namespace: Namespace, signal: AbortSignal): Promise<void> {
  await change(parts, namespace, {
    subresource: 'finalize',
    signal,
    change: (object) => {
      const finalizers = (object.spec?.finalizers ?? []).filter((name) => name !== parts.finalizer)
      return { ...object, spec: { ...object.spec, finalizers } }
    },
  })
}

async function remove({ client }: NamespaceLoopParts, { metadata }: Namespace, signal: AbortSignal): Promise<void> {
  const { name, uid } = metadata
  await ignoreNotFound(client.delete(kinds.Namespace, { name: name! }, { preconditions: { uid: uid! }, signal }))
}

interface Change {
  readonly subresource: string
  readonly signal: AbortSignal
  readonly change: (object: Namespace) => Namespace | undefined
}

/** Changes the namespace if it still waits for this loop. Never changes another namespace that has the same name. */
async function change(parts: NamespaceLoopParts, { metadata }: Namespace, { change, ...options }: Change) {
  const name = { name: metadata.name! }
  const guarded = (object: Namespace) =>
    object.metadata.uid === metadata.uid && isOurs(parts, object) ? change(object) : undefined
  return await ignoreNotFound(changeObject(parts.client, kinds.Namespace, { name, change: guarded, ...options }))
}
