/**
 * ComponentStatus: whether a part that the server relies on is well. It is answered
 * (`apiserver/resources/component-statuses.ts`) and never stored. Health checks say the same and more, to machines.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byType } from '../list-keys.ts'

const condition = s.object(
  {
    type: field(1, s.string(), { zero: 'write', published: 'required', doc: 'What the condition is about: Healthy.' }),
    status: field(2, s.string(), { zero: 'write', published: 'required', doc: 'True, False or Unknown.' }),
    message: field(3, s.string(), { doc: 'How it is, for people.' }),
    error: field(4, s.string(), { doc: 'What is wrong.' }),
  },
  { name: 'ComponentCondition', doc: 'Something that is known of the state of a component.' },
)

const conditions = s.list(condition, byType)

const fields = { conditions: field(2, conditions, { doc: 'What is known of it.' }) }

export type ComponentStatus = ObjectOf<typeof fields>

const columns: readonly Column<ComponentStatus>[] = [
  nameColumn,
  column('Status', 'Whether it is well.', (component) => wellness[healthOf(component).status ?? ''] ?? 'Unknown'),
  column('Message', 'How it is.', (component) => healthOf(component).message ?? ''),
  column('Error', 'What is wrong.', (component) => healthOf(component).error ?? ''),
]

const wellness: { readonly [status: string]: string } = { True: 'Healthy', False: 'Unhealthy' }

function healthOf({ conditions = [] }: ComponentStatus) {
  return conditions.find(({ type }) => type === 'Healthy') ?? {}
}

export const componentStatus = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'ComponentStatus',
    plural: 'componentstatuses',
    shortNames: ['cs'],
    scope: 'Cluster',
  },
  doc: 'Whether a part that the server relies on is well. Health checks say more.',
  fields,
  life: { verbs: ['get', 'list'], virtual: true },
  views: { columns },
  deprecated: { since: 'v1.19' },
})
