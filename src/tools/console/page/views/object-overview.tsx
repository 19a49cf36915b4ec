/** The overview tab of an object: its summary, its conditions, the reasons that delay its deletion, and its events. */
import type { ApiObject } from '../../../../api/model/object.ts'
import { ask } from '../core/access.ts'
import { type Condition, conditionsOf } from '../core/condition.ts'
import { useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { useAsked } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import { type DeletionStatus, DeletionWaits } from '../parts/deletion.tsx'
import { Age, Card, Chip, type Tone } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { type PlainRow, PlainTable } from '../parts/plain-table.tsx'
import { Containers, DataKeys, Summary } from './object-summary.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

export function ObjectOverview(view: ObjectView) {
  const { object } = view
  const { deletionTimestamp, finalizers = [] } = object.metadata
  return (
    <div class="cards">
      {(deletionTimestamp !== undefined || finalizers.length > 0) && <Deletion view={view} />}
      <Summary view={view} />
      <DataKeys view={view} />
      <Facts view={view} />
      <Containers view={view} />
      <Conditions object={object} />
      <Pairs title="Labels" pairs={object.metadata.labels} isHidden={() => false} />
      <Pairs
        title="Annotations"
        pairs={object.metadata.annotations}
        isHidden={(key) => isHidden(view, [{ member: 'metadata' }, { member: 'annotations' }, { member: key }])}
      />
      <Events object={object} />
    </div>
  )
}

/** Shows which finalizers and objects delay, or would delay, the deletion of the object. */
function Deletion({ view: { type, object } }: { readonly view: ObjectView }) {
  const consoleContext = useConsoleContext()
  const { namespace, name = '', finalizers = [], deletionTimestamp, resourceVersion } = object.metadata
  const deletionResult = useAsked(
    () =>
      ask<DeletionStatus>(consoleContext, 'deletionexplanations', {
        group: type.group,
        resource: type.plural,
        namespace,
        name,
      }),
    [resourceVersion],
  )
  return (
    <Card title={deletionTimestamp === undefined ? 'Finalizers' : 'Its deletion waits'} wide>
      {deletionResult.state === 'done' && deletionTimestamp !== undefined && (
        <DeletionWaits status={deletionResult.value} />
      )}
      {deletionResult.state === 'failed' && <Failure error={deletionResult.error} />}
      {(deletionTimestamp === undefined || deletionResult.state !== 'done') && (
        <ul class="plain-list">
          {finalizers.map((finalizer) => (
            <li key={finalizer}>
              <code>{displayText(finalizer, 200)}</code> must be removed by its owner before the object can go
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Conditions({ object }: { readonly object: ApiObject }) {
  const conditions = conditionsOf(object)
  if (conditions.length === 0) return null
  return (
    <Card title="Conditions" wide>
      <PlainTable
        label="Conditions"
        columns={['Condition', 'Reason', 'Message', 'For']}
        rows={conditions.map(conditionRow)}
      />
    </Card>
  )
}

function conditionRow({ type = '', status = '', reason, message, lastTransitionTime }: Condition): PlainRow {
  return {
    key: type,
    cells: [
      <Chip tone={toneOf(type, status)}>
        {displayText(type, 60)}: {displayText(status, 20)}
      </Chip>,
      displayText(reason, 100) || undefined,
      displayText(message, 500) || undefined,
      lastTransitionTime && (
        <span class="number">
          <Age since={lastTransitionTime} />
        </span>
      ),
    ],
  }
}

function toneOf(type: string, value: string): Tone {
  if (value !== 'True' && value !== 'False') return 'plain'
  // Matches the names of conditions that probably indicate a problem if they are true.
  const isBadWhenTrue =
    /fail|pressure|denied|unavailable|degraded|progressdeadline|remaining|dangling|nonstructural|terminating|suspended/i.test(
      type,
    )
  return (value === 'True') === isBadWhenTrue ? 'warn' : 'good'
}

function Facts({ view: { object, type } }: { readonly view: ObjectView }) {
  const { metadata } = object
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Kind', `${object.kind} (${object.apiVersion})`],
    ['Scope', type.namespaced ? `namespace ${metadata.namespace}` : 'cluster'],
    ['UID', metadata.uid],
    ['Version', metadata.resourceVersion],
    ['Generation', metadata.generation === undefined ? undefined : String(metadata.generation)],
    ['Created', metadata.creationTimestamp],
  ]
  return (
    <Card title="Facts">
      <dl class="facts">
        {rows.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{displayText(value, 200)}</dd>
            </div>
          ),
        )}
      </dl>
    </Card>
  )
}

interface PairsProps {
  readonly title: string
  readonly pairs: { readonly [key: string]: string } | undefined
  readonly isHidden: (key: string) => boolean
}

function Pairs({ title, pairs = {}, isHidden: isSecret }: PairsProps) {
  const entries = Object.entries(pairs)
  if (entries.length === 0) return null
  return (
    <Card title={title}>
      <dl class="facts">
        {entries.slice(0, 100).map(([key, value]) => (
          <div key={key}>
            <dt>{displayText(key, 200)}</dt>
            <dd>{isSecret(key) ? '••••••••' : displayText(value.trimEnd(), 300)}</dd>
          </div>
        ))}
      </dl>
      {entries.length > 100 && <p class="hint">{entries.length - 100} more</p>}
    </Card>
  )
}

interface EventObject extends ApiObject {
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly lastTimestamp?: string
  readonly eventTime?: string
  readonly source?: { readonly component?: string }
  readonly reportingComponent?: string
}

function Events({ object: { metadata } }: { readonly object: ApiObject }) {
  const { kinds } = useConsoleContext()
  const { objects, synced, error } = useObjects<EventObject>(kinds.builtIn('events', ''), {
    namespace: metadata.namespace ?? 'default',
    fieldSelector: `involvedObject.uid=${metadata.uid ?? ''}`,
  })
  const time = (event: EventObject) => event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp ?? ''
  const newest = [...objects].sort((a, b) => (time(a) < time(b) ? 1 : -1)).slice(0, 50)
  return (
    <Card title="Events" wide>
      {error !== undefined && <Failure error={error} />}
      {synced && newest.length === 0 && <p class="hint">None in the last hour.</p>}
      <ul class="events">
        {newest.map((event) => (
          <li key={event.metadata.uid}>
            <Chip tone={event.type === 'Warning' ? 'warn' : 'plain'}>{displayText(event.reason, 60)}</Chip>
            <span class="event-message">{displayText(event.message, 1000)}</span>
            <span class="sub">
              {(event.count ?? 1) > 1 && `${event.count} times, `}
              {displayText(event.source?.component ?? event.reportingComponent, 60)} <Age since={time(event)} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
