/**
 * Empties a namespace that is being deleted, and then lets it go.
 *
 * One step: delete what is in it, look at what is left, and write that into its status; when all is gone, take our
 * finalizer away, after which the server removes the namespace. Else look again later. Nothing is remembered between
 * steps, so a restart loses nothing; nothing new can be added meanwhile, as a create rests on the namespace as it was.
 */

import type { Clock } from '../base/clock.ts'
import { messageOf } from '../base/errors.ts'
import { changeObject } from '../client/change-object.ts'
import type { Client } from '../client/client.ts'
import { type DiscoveredType, discover } from '../client/discovery.ts'
import type { Informer } from '../client/informer.ts'
import { metadataForm } from '../client/metadata-form.ts'
import { type ResourceType, typeName } from '../client/resource-type.ts'
import { isExpired } from '../client/status-error.ts'
import type { Namespace } from '../kinds/core/namespace.ts'
import type { Loop } from '../reconcile/loop.ts'
import { fromInformer } from '../reconcile/sources.ts'
import type { StepOutcome } from '../reconcile/work-queue.ts'
import { conditionsOf, isEmpty, newSweep, type Sweep, withConditions } from './namespace-conditions.ts'
import { unlessGone } from './unless-gone.ts'

export const namespaces: ResourceType<Namespace> = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  namespaced: false,
}

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
  const namespace = await unlessGone(parts.client.get(namespaces, { name }, { signal }))
  if (namespace === undefined || !isOurs(parts, namespace)) return 'done'
  const sweep = await empty(parts, name, signal)
  await report(parts, namespace, { sweep, signal })
  if (sweep.failures.length > 0) throw new Error(`namespace "${name}" is not emptied: ${sweep.failures.join('; ')}`)
  if (!isEmpty(sweep)) return 'later'
  if (isReleased(namespace)) await remove(parts, namespace, signal)
  else await release(parts, namespace, signal)
  return 'done'
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

/** Pods go first: what they rely on, such as rules about their traffic, stays until the last of them has stopped. */
async function empty({ client }: NamespaceLoopParts, name: string, signal: AbortSignal) {
  const { types, failures } = await discover(client, { signal })
  const sweep = newSweep(failures)
  const deletable = types.filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes('list') && verbs.includes('delete'),
  )
  const isPods = ({ group, plural }: DiscoveredType) => group === '' && plural === 'pods'
  for (const phase of [deletable.filter(isPods), deletable.filter((type) => !isPods(type))]) {
    for (let i = 0; i < phase.length; i += typesAtOnce)
      await Promise.all(phase.slice(i, i + typesAtOnce).map((type) => sweepType(client, type, { name, sweep, signal })))
    if (sweep.remaining.size > 0) break
  }
  return sweep
}

/** A type that fails does not hold up the others. */
async function sweepType(
  client: Client,
  type: DiscoveredType,
  { name, sweep, signal }: { name: string; sweep: Sweep; signal: AbortSignal },
): Promise<void> {
  try {
    await deleteAll(client, type, { namespace: name, signal })
    const { items } = await client.list(type, { namespace: name, accept: metadataForm.list, signal })
    if (items.length > 0) sweep.remaining.set(typeName(type), items.length)
    for (const finalizer of items.flatMap(({ metadata }) => metadata.finalizers ?? []))
      sweep.finalizers.set(finalizer, (sweep.finalizers.get(finalizer) ?? 0) + 1)
  } catch (error) {
    if (signal.aborted) throw error
    sweep.failures.push(`${typeName(type)}: ${messageOf(error)}`)
  }
}

async function deleteAll(
  client: Client,
  type: DiscoveredType,
  place: { namespace: string; signal: AbortSignal },
): Promise<void> {
  const options = { ...place, propagationPolicy: 'Background' as const }
  try {
    if (type.verbs.includes('deletecollection')) return await client.deleteCollection(type, options)
    for await (const { items } of client.pages(type, { ...place, accept: metadataForm.list }))
      for (const { metadata } of items)
        await unlessGone(client.delete(type, { ...place, name: metadata.name! }, { propagationPolicy: 'Background' }))
  } catch (error) {
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
  await unlessGone(client.delete(namespaces, { name: name! }, { preconditions: { uid: uid! }, signal }))
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
  return await unlessGone(changeObject(parts.client, namespaces, { name, change: guarded, ...options }))
}
