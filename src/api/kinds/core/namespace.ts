/**
 * A Namespace is a scope for object names and access control. A namespace is deleted in two phases. It stays in the
 * phase `Terminating` while `spec.finalizers` is not empty. A controller deletes the content and then removes its
 * finalizer through the `finalize` subresource.
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
    type: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the condition.' }),
    status: field(2, s.string(), { zeroValue: 'write', doc: 'Status of the condition: True, False or Unknown.' }),
    lastTransitionTime: field(4, s.time(), {
      zeroValue: 'write',
      doc: 'Time when the status of the condition last changed.',
    }),
    reason: field(5, s.string(), { doc: 'Machine-readable reason for the last transition, in CamelCase.' }),
    message: field(6, s.string(), { doc: 'Human-readable message about the last transition.' }),
  },
  { name: 'NamespaceCondition', doc: 'A condition of a Namespace.' },
)

const spec = s.object(
  {
    finalizers: field(1, s.list(s.string()), {
      doc: 'Finalizers that block deletion of the namespace. They can be changed only through the finalize subresource.',
    }),
  },
  { name: 'NamespaceSpec', doc: 'Specification of a Namespace.' },
)

const conditions = s.list(condition, byType)

const status = s.object(
  {
    phase: field(1, s.string(), {
      default: 'Active',
      doc: 'Lifecycle phase of the namespace: `Active`, or `Terminating` while it is being deleted.',
    }),
    conditions: field(2, conditions, { doc: "Conditions that describe the progress of the namespace's deletion." }),
  },
  { name: 'NamespaceStatus', doc: 'Observed status of a Namespace.' },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Finalizers that block deletion of the namespace.' }),
  status: field(3, status, { zeroValue: 'write', doc: 'Observed status of the namespace, set by the system.' }),
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
    nameFormat: checkDnsLabel,
  },
  doc: 'A scope for object names and access control. Deleting a namespace deletes all the objects in it.',
  fields,
  rules: specAndStatus<Namespace>({
    fillDefaults: (object, { vendor }) => labelWithName(object, vendor),
    newStatus: () => ({ phase: 'Active' }),
    prepareForCreate: (object, { vendor }) => addFinalizer(object, vendor),
    prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
    validate: checkFinalizers,
    validateUpdate: (next, _, { subresource }) => (subresource === 'status' ? checkPhase(next) : []),
  }),
  lifecycle: {
    verbs: verbsWithout('deletecollection'),
    holdsDeletion: (object) => (object.spec?.finalizers ?? []).length > 0,
    beginDeletion: (object) => {
      // A namespace has no grace period. Its deletion waits only until its content is removed.
      delete object.metadata.deletionGracePeriodSeconds
      object.status = { ...object.status, phase: 'Terminating' }
    },
  },
  views: {
    columns: [
      nameColumn,
      column(
        'Status',
        'Lifecycle phase of the namespace: Active or Terminating.',
        (object: Namespace) => object.status?.phase ?? '',
      ),
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

/** Sets the label with the name of the namespace, so that label selectors can select a namespace by name. */
function labelWithName({ metadata }: Namespace, vendor: Vendor): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [vendorKey(vendor, 'metadata.name')]: metadata.name }
}

function addFinalizer(object: Namespace, vendor: Vendor): void {
  const sentFinalizers = object.spec?.finalizers ?? []
  const own = vendor.namespaceFinalizer
  object.spec = { finalizers: sentFinalizers.includes(own) ? sentFinalizers : [...sentFinalizers, own] }
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
