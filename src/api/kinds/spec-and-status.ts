/**
 * What kinds share that have a `spec`, which clients write, and a `status`, which is reported through a subresource of
 * its own: neither way of writing changes the other part.
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

/** The rules of such a kind: those that any kind may have, and what is said of its status. */
interface StatusRules<T extends SpecAndStatus> extends Omit<KindRules<T>, 'readOnly'> {
  /** Returns the status of a new object, after `prepareForCreate`. Where it is left out, clients may send one. */
  readonly newStatus?: (object: T, context: PrepareContext) => NonNullable<T['status']>
  /** Returns the part of an object whose changes its generation counts. Where it is left out, there is no generation. */
  readonly generation?: (object: T) => unknown
}

type Prepared<T> = KindRules<T> & Required<Pick<KindRules<T>, 'prepareForCreate' | 'prepareForUpdate'>>

/** Rules by which the status of a new object is the server's, and an update of the object leaves its status alone. */
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

/** Leaves one of the two as it is stored. Changes `next`. */
export function keep(next: SpecAndStatus, previous: SpecAndStatus, part: 'spec' | 'status'): void {
  next[part] = previous[part]
}

/** The subresource `status` where it needs no rules of its own. */
export const plainStatus: Subresource<SpecAndStatus> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: ['spec'],
  prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
}

const metadataOfClients = ['labels', 'annotations', 'ownerReferences', 'finalizers'].map((name) => `metadata.${name}`)

/** The subresource `status` where the metadata cannot be written through it either. */
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

/** The same where not even the start of its name can be. */
export const statusAndNothingElse: Subresource<SpecAndStatus & { metadata: ObjectMeta }> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: [...metadataOfClients, 'metadata.generateName', 'spec'],
  prepareForUpdate: (next, previous, context) => {
    statusAlone.prepareForUpdate(next, previous, context)
    const { generateName: _, ...rest } = next.metadata
    next.metadata = { ...rest, ...defined({ generateName: previous.metadata.generateName }) }
  },
}
