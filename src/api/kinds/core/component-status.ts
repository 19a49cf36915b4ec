/**
 * A ComponentStatus reports the health of a component that the server depends on. The server computes the status on
 * each read (`apiserver/resources/component-statuses.ts`) and never stores it. The health endpoints report the same
 * information and more.
 */
import { type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byType } from '../list-keys.ts'

const condition = s.object(
  {
    type: field(1, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Type of the condition. The only type is Healthy.',
    }),
    status: field(2, s.string(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Status of the condition: True, False or Unknown.',
    }),
    message: field(3, s.string(), { doc: "Human-readable message about the component's health." }),
    error: field(4, s.string(), { doc: 'Error code or message of a failed health check.' }),
  },
  { name: 'ComponentCondition', doc: 'A condition of a component.' },
)

const conditions = s.list(condition, byType)

const fields = { conditions: field(2, conditions, { doc: 'Conditions of the component.' }) }

export type ComponentStatus = ObjectOf<typeof fields>

const columns: readonly Column<ComponentStatus>[] = [
  nameColumn,
  column(
    'Status',
    'Health of the component: Healthy, Unhealthy or Unknown.',
    (component) => wellness[healthOf(component).status ?? ''] ?? 'Unknown',
  ),
  column('Message', 'Message from the health check.', (component) => healthOf(component).message ?? ''),
  column('Error', 'Error from the health check, if it failed.', (component) => healthOf(component).error ?? ''),
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
  doc: 'Health of a component that the server depends on. Deprecated since v1.19: use the health endpoints instead.',
  fields,
  lifecycle: { verbs: ['get', 'list'], virtual: true },
  views: { columns },
  deprecated: { since: '1.19' },
})
