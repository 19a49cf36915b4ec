/**
 * ControllerRevision: a state of something that its controller can go back to. The data means something to it alone.
 */

import { isObject, type Json } from '../../json/json.ts'
import { groupOf } from '../../model/api-version.ts'
import { type FieldError, invalid, required } from '../../model/field-error.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { notNegative } from '../counts.ts'

const rawExtension = s.any({ name: 'runtime.RawExtension', doc: 'Any JSON, kept as it was sent.', asSent: true })

const fields = {
  data: field(2, rawExtension, { zero: 'keep', doc: 'The state, in any form. It cannot change.' }),
  revision: field(3, s.int64(), {
    zero: 'write',
    published: 'required',
    doc: 'Which state it is; later ones are higher.',
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
  doc: 'A state of something that its controller can go back to.',
  fields,
  rules: {
    validate: ({ data, revision }) => [
      ...(data === undefined || data === null ? [required('data', 'data is mandatory')] : []),
      ...notNegative(revision, 'revision'),
    ],
    validateUpdate: checkData,
  },
  views: {
    columns: [
      nameColumn,
      column('Controller', 'Whose state it is.', controllerOf),
      column('Revision', 'Which state it is.', ({ revision }: ControllerRevision) => revision ?? 0),
      ageColumn,
    ],
  },
})

function checkData({ data: next }: ControllerRevision, { data: previous }: ControllerRevision): FieldError[] {
  return sameText(next, previous) ? [] : [invalid('data', next, 'field is immutable')]
}

/** Whether two values are written alike: controllers compare the text, in which the order of members counts. */
function sameText(a: Json | undefined, b: Json | undefined): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameText(item, b[i]))
  if (!isObject(a)) return a === b
  if (!isObject(b)) return false
  const keys = Object.keys(a)
  const others = Object.keys(b)
  return keys.length === others.length && keys.every((key, i) => key === others[i] && sameText(a[key], b[key]))
}

/** `statefulset.apps/web` */
function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner === undefined) return '<none>'
  const { apiVersion, kind, name } = owner
  const group = groupOf(apiVersion) === '' ? '' : `.${groupOf(apiVersion)}`
  return `${`${kind}${group}`.toLowerCase()}/${name}`
}
