/**
 * Empties a namespace that is being deleted, and then lets it go.
 *
 * One step: delete what is in it, look at what is left, and write that into its status; when all is gone, take our
 * finalizer away, after which the server removes the namespace. Else look again later. Nothing is remembered between
 * steps, so a restart loses nothing; nothing new can be added meanwhile, as a create rests on the namespace as it was.
 *
 * A restore of the store may undo the deletion at any moment. So objects are listed first, then the namespace is read
 * again, and then the very objects of that list are deleted: by its version, which no restore leaves valid.
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
import { conditionsOf, isEmpty, newSweep, type Sweep, withConditions } from './namespace-conditions.ts'
import { unlessGone } from './unless-gone.ts'

export interface NamespaceLoopParts {
  readonly client: Client
  readonly informer: Informer<Namespace>
  /** The one in `spec.finalizers` that is ours to take away. */
  readonly finalizer: string
  readonly clock: Clock
}

/** What holds a namespace is not watched, but looked at again and again, at least this often. */
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
  const known = parts.informer.get({ name })
  if (known === undefined || !isOurs(parts, known)) return 'done'
  // The copy may be old: another namespace may have the name by now.
  const namespace = await unlessGone(parts.client.get(kinds.Namespace, { name }, { signal }))
  if (namespace === undefined || !isOurs(parts, namespace)) return 'done'
  const isGoing = new SharedLookup(() => isStillGoing(parts, namespace, signal))
  const sweep = await empty(parts, { name, isGoing: () => isGoing.ask(), signal })
  await report(parts, namespace, { sweep, signal })
  if (sweep.failures.length > 0) throw new Error(`namespace "${name}" is not emptied: ${sweep.failures.join('; ')}`)
  if (!isEmpty(sweep)) return 'later'
  if (isReleased(namespace)) await remove(parts, namespace, signal)
  else await release(parts, namespace, signal)
  return 'done'
}

/** Whether this very namespace still waits for us, as the store has it now. */
async function isStillGoing(parts: NamespaceLoopParts, { metadata }: Namespace, signal: AbortSignal): Promise<boolean> {
  const now = await unlessGone(parts.client.get(kinds.Namespace, { name: metadata.name! }, { signal }))
  return now !== undefined && now.metadata.uid === metadata.uid && isOurs(parts, now)
}

/** Being deleted, and waiting for us. */
function isOurs({ finalizer }: NamespaceLoopParts, namespace: Namespace): boolean {
  const { metadata, spec } = namespace
  if (metadata.deletionTimestamp === undefined) return false
  return isReleased(namespace) || (spec?.finalizers ?? []).includes(finalizer)
}

/** Whether somebody took all finalizers away before it was deleted: then a second deletion ends it. */
function isReleased({ spec }: Namespace): boolean {
  return (spec?.finalizers ?? []).length === 0
}

/** Most types have nothing in a namespace: only the way there and back takes time. */
const typesAtOnce = 8

interface EmptiedNamespace {
  readonly name: string
  /** Whether the namespace is still being deleted: asked of the server each time. */
  readonly isGoing: () => Promise<boolean>
  readonly signal: AbortSignal
}

/** Pods go first: what they rely on, such as rules about their traffic, stays until the last of them has stopped. */
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

/** A type that fails does not hold up the others. */
async function sweepType(
  client: Client,
  type: DiscoveredType,
  { name, isGoing, sweep, signal }: EmptiedNamespace & { readonly sweep: Sweep },
): Promise<void> {
  try {
    const place = { namespace: name, signal }
    const { items: some, resourceVersion } = await firstPage(client, type, place)
    if (some.length === 0) return
    if (!(await isGoing())) throw new Error('the namespace is not being deleted any more')
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

/** Whether there is anything, and the version of that state. */
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
  listed: { namespace: string; signal: AbortSignal; resourceVersion: string; resourceVersionMatch: 'Exact' },
): Promise<void> {
  const { namespace, signal } = listed
  const propagationPolicy = 'Background' as const
  try {
    if (type.verbs.includes('deletecollection'))
      return await client.deleteCollection(type, { ...listed, propagationPolicy })
    for await (const { items } of client.pages(type, { ...listed, accept: metadataForm.list }))
      for (const { metadata } of items) {
        const { name = '', uid = '', resourceVersion = '' } = metadata
        const preconditions = { uid, resourceVersion }
        await unlessGone(client.delete(type, { namespace, name }, { propagationPolicy, preconditions, signal }))
      }
  } catch (error) {
    // It was changed since the list: it is for the next step.
    if (isConflict(error)) return
    // Too slow for the snapshot that the pages come from: what is left is for the next step.
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
  await unlessGone(client.delete(kinds.Namespace, { name: name! }, { preconditions: { uid: uid! }, signal }))
}

interface Change {
  readonly subresource: string
  readonly signal: AbortSignal
  readonly change: (object: Namespace) => Namespace | undefined
}

/** Changes this very namespace, if it still waits for us: not one that has taken its name. */
async function change(parts: NamespaceLoopParts, { metadata }: Namespace, { change, ...options }: Change) {
  const name = { name: metadata.name! }
  const guarded = (object: Namespace) =>
    object.metadata.uid === metadata.uid && isOurs(parts, object) ? change(object) : undefined
  return await unlessGone(changeObject(parts.client, kinds.Namespace, { name, change: guarded, ...options }))
}
