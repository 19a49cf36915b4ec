/**
 * Rules for kinds with a `spec`, which clients write, and a `status`, which is written through the `status`
 * subresource. A write to one part never changes the other.
 */
import { defined } from '../json/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { PrepareContext } from '../schema/context.ts'
import type { KindRules, Subresource } from '../schema/kind.ts'
import { countsGeneration } from './generation.ts'

interface SpecAndStatus {
  spec?: unknown
  status?: unknown
}

/** Rules for kinds with a spec and a status. `newStatus` and `generation` are optional features. */
interface StatusRules<T extends SpecAndStatus> extends Omit<KindRules<T>, 'readOnly'> {
  /**
   * Returns the status of a new object. Called after `prepareForCreate`. If this function is undefined, clients may
   * send a status.
   */
  readonly newStatus?: (object: T, context: PrepareContext) => NonNullable<T['status']>
  /**
   * Returns the part of an object whose changes increment the generation. If this function is undefined, the kind has
   * no generation.
   */
  readonly generation?: (object: T) => unknown
}

type Prepared<T> = KindRules<T> & Required<Pick<KindRules<T>, 'prepareForCreate' | 'prepareForUpdate'>>

/** Returns rules that set the initial status on creation and preserve the status on updates. */
export function specAndStatus<T extends SpecAndStatus & { metadata: ObjectMeta }>(definition: StatusRules<T>) {
  const { newStatus, generation, ...others } = definition
  const rules: Prepared<T> = {
    ...others,
    readOnly: ['status'],
    prepareForCreate: (object, context) => {
      others.prepareForCreate?.(object, context)
      if (newStatus !== undefined) setStatus(object, newStatus(object, context))
    },
    prepareForUpdate: (next, previous, context) => {
      keep(next, previous, 'status')
      others.prepareForUpdate?.(next, previous, context)
    },
  }
  return generation === undefined ? rules : countsGeneration(generation, rules)
}

function setStatus(object: SpecAndStatus, status: unknown): void {
  object.status = status
}

/** Discards changes to the spec or the status of `next`. */
export function keep(next: SpecAndStatus, previous: SpecAndStatus, part: 'spec' | 'status'): void {
  next[part] = previous[part]
}

/** A `status` subresource without additional rules. */
export const plainStatus: Subresource<SpecAndStatus> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: ['spec'],
  prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
}

/** Metadata fields that clients control: labels, annotations, owner references and finalizers. */
export const metadataOfClients = ['labels', 'annotations', 'ownerReferences', 'finalizers'].map(
  (name) => `metadata.${name}`,
)

/** A `status` subresource that also preserves labels, annotations, owner references and finalizers. */
export const statusAlone: Subresource<SpecAndStatus & { metadata: ObjectMeta }> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: [...metadataOfClients, 'spec'],
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'spec')
    const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, ...rest } = next.metadata
    const { labels, annotations, ownerReferences, finalizers } = previous.metadata
    next.metadata = { ...rest, ...defined({ labels, annotations, ownerReferences, finalizers }) }
  },
}

/** Like `statusAlone`, but also keeps `generateName` unchanged. */
export const statusAndNothingElse: Subresource<SpecAndStatus & { metadata: ObjectMeta }> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: [...metadataOfClients, 'metadata.generateName', 'spec'],
  prepareForUpdate: (next, previous, context) => {
    statusAlone.prepareForUpdate(next, previous, context)
    const { generateName: _, ...rest } = next.metadata
    next.metadata = { ...rest, ...defined({ generateName: previous.metadata.generateName }) }
  },
}
