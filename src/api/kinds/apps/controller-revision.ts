/**
 * A ControllerRevision is a snapshot of a workload's state to which the workload's controller can roll back. Only that
 * controller interprets the data.
 */

import { isObject, type Json } from '../../json/json.ts'
import { groupOf } from '../../model/api-version.ts'
import { type FieldError, invalid, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { notNegative } from '../counts.ts'

const rawExtension = s.any({
  name: 'runtime.RawExtension',
  doc: 'Arbitrary JSON, stored exactly as the client sent it.',
  asSent: true,
})

const fields = {
  data: field(2, rawExtension, {
    zeroValue: 'keep',
    doc: 'Serialized state in a format defined by the controller. Immutable.',
  }),
  revision: field(3, s.int64(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Revision number. Later revisions have higher numbers.',
  }),
}

export type ControllerRevision = ObjectOf<typeof fields>

export const controllerRevision = defineKind({
  names: {
    group: 'apps',
    version: 'v1',
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    scope: 'Namespaced',
  },
  doc: "A snapshot of a workload's state to which its controller can roll back.",
  fields,
  rules: {
    validate: ({ data, revision }) => [
      ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
      ...notNegative(revision, 'revision'),
    ],
    validateCreate: ({ data = null }, context) =>
      data === null || isObject(data) || !isAtLeast(emulationOf(context).version, '1.31')
        ? []
        : [required('data', 'data must be a JSON object')],
    validateUpdate: checkData,
  },
  views: {
    columns: [
      nameColumn,
      column('Controller', 'Controller that owns the revision.', controllerOf),
      column('Revision', 'Revision number.', ({ revision }: ControllerRevision) => revision ?? 0),
      ageColumn,
    ],
  },
})

function checkData({ data: next }: ControllerRevision, { data: previous }: ControllerRevision): FieldError[] {
  return sameText(next, previous) ? [] : [invalid('data', next, 'field is immutable')]
}

/** Whether two values are equal, including the order of members, which controllers also compare. */
function sameText(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameText(item, b[i]))
  if (!isObject(a)) return a === b
  if (!isObject(b)) return false
  const keys = Object.keys(a)
  const others = Object.keys(b)
  return keys.length === others.length && keys.every((key, i) => key === others[i] && sameText(a[key], b[key]))
}

/** Returns the controller of a revision as `kind.group/name`, such as `statefulset.apps/web`. */
function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner === undefined) return '<none>'
  const { apiVersion, kind, name } = owner
  const group = groupOf(apiVersion) === '' ? '' : `.${groupOf(apiVersion)}`
  return `${`${kind}${group}`.toLowerCase()}/${name}`
}
