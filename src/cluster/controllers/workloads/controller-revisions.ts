/**
 * The template history of a workload, stored as ControllerRevisions. Each revision contains a patch that restores the
 * template. The highest revision number marks the current template, so a restored revision gets a new number. Unused
 * revisions beyond the workload's limit are deleted, oldest first.
 */

import { isObject, type Json, sameJson } from '../../../api/json/json.ts'
import type { ControllerRevision } from '../../../api/kinds/apps/controller-revision.ts'
import type { PodTemplateSpec } from '../../../api/kinds/core/types/pod-template-spec.ts'
import type { ObjectBase } from '../../../api/model/object.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import { sortUtf8 } from '../../../base/collections/utf8-order.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOf, type ResourceType } from '../../../client/requests/resource-type.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import { claimObjects } from './claim-objects.ts'
import { byController, controllerReference, isControlledBy } from './ownership.ts'
import { contentHash } from './template-hash.ts'

/** A workload with a revision history, and the clients for maintaining it. */
export interface RevisionOwner<O extends ObjectBase> {
  readonly client: Client
  readonly revisions: Informer<ControllerRevision>
  readonly owner: O
  readonly ownerType: ResourceType<O>
  readonly selects: (labels: Labels) => boolean
  readonly template: PodTemplateSpec
  /** Number of name collisions so far. Undefined if there have been none. */
  readonly collisions: number | undefined
  /** Key of the label whose value is the hash of the template. */
  readonly hashLabel: string
  readonly signal: AbortSignal
}

/** The revision of a workload's current template, and all other revisions, oldest first. */
export interface History {
  readonly present: ControllerRevision
  readonly others: readonly ControllerRevision[]
  /** Number of name collisions so far. Undefined if there have been none. */
  readonly collisions: number | undefined
}

/** Finds or creates the revision of the current template. */
export async function syncHistory<O extends ObjectBase>(parts: RevisionOwner<O>): Promise<History> {
  const all = await claimedRevisions(parts)
  const data = templatePatch(parts.template)
  const newest = all.at(-1)?.revision ?? 0
  const equal = all.filter((each) => isOfTemplate(each, parts.template)).at(-1)
  const createdRevision =
    equal === undefined
      ? await createRevision(parts, { data, revision: newest + 1 })
      : { present: await renumber(parts, equal, newest), collisions: parts.collisions }
  return {
    ...createdRevision,
    others: all.filter(({ metadata }) => metadata.uid !== createdRevision.present.metadata.uid),
  }
}

/** Returns the pod template in a revision, or undefined if the revision contains no template. */
export function templateOfRevision({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const { spec } = (data ?? {}) as { spec?: { template?: PodTemplateSpec & { $patch?: string } } }
  if (spec?.template === undefined) return undefined
  const { $patch: _, ...template } = spec.template
  const { creationTimestamp: time, ...metadata } = template.metadata ?? {}
  return (time ?? undefined) === undefined ? { ...template, metadata } : template
}

/**
 * Whether a revision contains this template. Also accepts revisions without the null that `templatePatch` adds, because
 * treating them as different would create a new revision and replace all pods.
 */
function isOfTemplate(revision: ControllerRevision, template: PodTemplateSpec): boolean {
  return sameJson(asData(templateOfRevision(revision)), asData({ ...template, metadata: template.metadata ?? {} }))
}

function asData(template: PodTemplateSpec | undefined): Json {
  return (template ?? null) as unknown as Json
}

/** Deletes unused revisions beyond the limit, oldest first. */
export async function truncateHistory(
  { client, signal }: Pick<RevisionOwner<ObjectBase>, 'client' | 'signal'>,
  revisions: readonly ControllerRevision[],
  { limit, isLive }: { readonly limit: number; readonly isLive: (revision: ControllerRevision) => boolean },
): Promise<void> {
  const unused = revisions.filter((revision) => !isLive(revision)).sort(byAge)
  for (const revision of unused.slice(0, Math.max(0, unused.length - limit))) {
    const preconditions = { uid: revision.metadata.uid ?? '' }
    await ignoreNotFound(client.delete(kinds.ControllerRevision, nameOf(revision), { preconditions, signal }))
  }
}

/** Returns the revisions of the workload, oldest first. */
async function claimedRevisions<O extends ObjectBase>(parts: RevisionOwner<O>): Promise<ControllerRevision[]> {
  const { revisions, owner } = parts
  const { uid = '', namespace = '' } = owner.metadata
  const lookup = byController(revisions)
  const candidates = [...lookup.controlledBy(namespace, uid), ...lookup.orphans(namespace)]
  return (await claimObjects({ ...parts, type: kinds.ControllerRevision }, candidates)).sort(byAge)
}

function byAge(a: ControllerRevision, b: ControllerRevision): number {
  const times = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '')
  const names = [a, b].map(({ metadata }) => metadata.name ?? '')
  return (a.revision ?? 0) - (b.revision ?? 0) || compareText(times[0]!, times[1]!) || compareText(names[0]!, names[1]!)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/**
 * Returns a patch that replaces the workload's template. Go programs such as kubectl and kube-controller-manager
 * compare the bytes of the patch with their own serialization, in which an unset time is null and members are sorted by
 * name.
 */
function templatePatch(template: PodTemplateSpec): Json {
  const metadata = { creationTimestamp: null, ...template.metadata }
  return inByteOrder({ spec: { template: { ...template, metadata, $patch: 'replace' } } } as unknown as Json)
}

function inByteOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inByteOrder)
  if (!isObject(value)) return value
  const sortedKeys = sortUtf8(Object.keys(value)).filter((key) => value[key] !== undefined)
  return Object.fromEntries(sortedKeys.map((key) => [key, inByteOrder(value[key]!)]))
}

interface NewRevision {
  readonly data: Json
  readonly revision: number
}

/**
 * Creates a revision. Returns an existing revision with the same name and content. If the content differs, tries
 * another name.
 */
async function createRevision<O extends ObjectBase>(
  parts: RevisionOwner<O>,
  { data, revision }: NewRevision,
): Promise<Pick<History, 'present' | 'collisions'>> {
  const { client, owner, template, hashLabel, signal } = parts
  const { namespace = '', name: ownerName = '' } = owner.metadata
  for (let collisions = parts.collisions; ; collisions = (collisions ?? 0) + 1) {
    const hash = contentHash(data, collisions)
    const name = `${ownerName.slice(0, 223)}-${hash}`
    const labels = { ...template.metadata?.labels, [hashLabel]: hash }
    const { annotations = {} } = owner.metadata
    const metadata = { name, namespace, labels, annotations, ownerReferences: [controllerReference(owner)] }
    try {
      return {
        present: await client.create(kinds.ControllerRevision, { metadata, data, revision }, { signal }),
        collisions,
      }
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error
    }
    const existingRevision = await client.get(kinds.ControllerRevision, { namespace, name }, { signal })
    if (isControlledBy(existingRevision, owner) && isOfTemplate(existingRevision, template))
      return { present: existingRevision, collisions }
  }
}

/** Assigns the highest number to the revision of the current template. */
async function renumber<O extends ObjectBase>(
  { client, signal }: RevisionOwner<O>,
  revision: ControllerRevision,
  newest: number,
): Promise<ControllerRevision> {
  if (revision.revision === newest) return revision
  return await client.update(kinds.ControllerRevision, { ...revision, revision: newest + 1 }, { signal })
}
