/**
 * Namespace: a scope for names and for access. It is deleted in two steps: while `spec.finalizers` holds anything it
 * stays, Terminating, until a control loop has emptied it and taken its finalizer away through `finalize`.
 */
import { at, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
import { checkFinalizerDomain, checkFinalizerForm } from '../../model/finalizers.ts'
import { checkDnsLabel } from '../../model/names.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { verbsWithout } from '../../model/verb.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byType } from '../list-keys.ts'
import { keep, plainStatus, specAndStatus } from '../spec-and-status.ts'

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', doc: 'What the condition is about.' }),
    status: field(2, s.string(), { zero: 'write', doc: 'True, False or Unknown.' }),
    lastTransitionTime: field(4, s.time(), { zero: 'write', doc: 'When the status last changed.' }),
    reason: field(5, s.string(), { doc: 'Why, in one word for programs.' }),
    message: field(6, s.string(), { doc: 'Why, for people.' }),
  },
  { name: 'NamespaceCondition', doc: 'Something that is known of the state of a namespace.' },
)

const spec = s.object(
  {
    finalizers: field(1, s.list(s.string()), {
      doc: 'Finalizers that must be removed before the namespace is deleted. Changed only through the subresource finalize.',
    }),
  },
  { name: 'NamespaceSpec', doc: 'What a namespace waits for before it goes.' },
)

const conditions = s.list(condition, byType)

const status = s.object(
  {
    phase: field(1, s.string(), { default: 'Active', doc: 'Active, or Terminating once it is being deleted.' }),
    conditions: field(2, conditions, { doc: 'How its deletion gets on.' }),
  },
  { name: 'NamespaceStatus', doc: 'Where a namespace is in its life.' },
)

const fields = {
  spec: field(2, spec, { zero: 'write', doc: 'What holds the namespace.' }),
  status: field(3, status, { zero: 'write', doc: 'Where it is in its life. Set by the server.' }),
}

export type Namespace = ObjectOf<typeof fields>

export const namespace = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Namespace',
    plural: 'namespaces',
    shortNames: ['ns'],
    scope: 'Cluster',
    form: checkDnsLabel,
  },
  doc: 'A scope for names and for access. Deleting it deletes everything in it.',
  fields,
  rules: specAndStatus<Namespace>({
    fillDefaults: (object, { vendor }) => labelWithName(object, vendor),
    newStatus: () => ({ phase: 'Active' }),
    prepareForCreate: (object, { vendor }) => addFinalizer(object, vendor),
    prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
    validate: checkFinalizers,
    validateUpdate: (next, _, { subresource }) => (subresource === 'status' ? checkPhase(next) : []),
  }),
  life: {
    verbs: verbsWithout('deletecollection'),
    holdsDeletion: (object) => (object.spec?.finalizers ?? []).length > 0,
    beginDeletion: (object) => {
      // There is no grace period to wait for, only for the content to go.
      delete object.metadata.deletionGracePeriodSeconds
      object.status = { ...object.status, phase: 'Terminating' }
    },
  },
  views: {
    columns: [
      nameColumn,
      column('Status', 'Whether it is in use or being deleted.', (object: Namespace) => object.status?.phase ?? ''),
      ageColumn,
    ],
    selectable: (object) => ({ 'status.phase': object.status?.phase ?? '' }),
    subresources: {
      status: plainStatus,
      finalize: {
        verbs: ['update'],
        readOnly: ['status'],
        prepareForUpdate: (next, previous) => keep(next, previous, 'status'),
      },
    },
  },
})

/** Selectors on namespaces can rely on a label that holds the name. */
function labelWithName({ metadata }: Namespace, vendor: Vendor): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [vendorKey(vendor, 'metadata.name')]: metadata.name }
}

function addFinalizer(object: Namespace, vendor: Vendor): void {
  const given = object.spec?.finalizers ?? []
  const own = vendor.namespaceFinalizer
  object.spec = { finalizers: given.includes(own) ? given : [...given, own] }
}

function checkFinalizers(object: Namespace, { vendor, subresource }: RuleContext): FieldError[] {
  const path = 'spec.finalizers'
  const finalizers = object.spec?.finalizers ?? []
  return finalizers.flatMap((name, i) => checkFinalizer(name, subresource === 'finalize' ? at(path, i) : path, vendor))
}

function checkFinalizer(name: string, path: FieldPath, vendor: Vendor): FieldError[] {
  const faults = [...checkFinalizerForm(name), ...checkFinalizerDomain(name, vendor)]
  return faults.map((text) => invalid(path, name, text))
}

function checkPhase({ metadata, status = {} }: Namespace): FieldError[] {
  if (metadata.deletionTimestamp === undefined) {
    if (status.phase === 'Active') return []
    return [invalid('status.Phase', status.phase ?? '', "may only be 'Active' if `deletionTimestamp` is empty")]
  }
  if (status.phase === 'Terminating') return []
  return [invalid('status.Phase', status.phase ?? '', "may only be 'Terminating' if `deletionTimestamp` is not empty")]
}
