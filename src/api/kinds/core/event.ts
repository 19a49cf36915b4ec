/**
 * An Event reports that something happened to an object. There are two generations of clients that report events. Older
 * clients count repetitions in `count`, `firstTimestamp` and `lastTimestamp`, and their events are subject to few
 * validation rules. Newer clients set `eventTime`, count repetitions in `series`, and must identify themselves and the
 * action.
 */
import { at, type FieldError, invalid, maxFaults, required } from '../../model/field-error.ts'
import { checkFinalizerDomain } from '../../model/finalizers.ts'
import { asPrefix, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ago, column, nameColumn } from '../../schema/columns.ts'
import { emulationOf, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { field, s } from '../../schema/schema.ts'
import { isAtLeast } from '../../versions/emulated-version.ts'
import { immutableField } from '../immutable.ts'
import { objectReference } from './types/references.ts'

export const eventSource = s.object(
  {
    component: field(1, s.string(), { doc: 'Name of the component that reports the event.' }),
    host: field(2, s.string(), { doc: 'Name of the node on which the component runs.' }),
  },
  { name: 'core.v1.EventSource', doc: 'The component that reports an event.' },
)

const series = s.object(
  {
    count: field(1, s.int32(), { doc: 'Number of occurrences so far, including the one at `lastObservedTime`.' }),
    lastObservedTime: field(2, s.microTime(), { zeroValue: 'write', doc: 'Time of the last observed occurrence.' }),
  },
  { name: 'EventSeries', doc: 'Number of occurrences of a repeated event, and the time of the last one.' },
)

const fields = {
  metadata: field(1, objectMeta, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Standard object metadata, such as the name and labels.',
  }),
  involvedObject: field(2, objectReference, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Object that the event is about. If the object is cluster-scoped, the event must be in the default namespace.',
  }),
  reason: field(3, s.string(), { doc: 'Machine-readable reason for the event, in CamelCase.' }),
  message: field(4, s.string(), { doc: 'Human-readable description of the event.' }),
  source: field(5, eventSource, {
    zeroValue: 'write',
    doc: 'Component that reported the event. Newer components set `reportingComponent` instead.',
  }),
  firstTimestamp: field(6, s.time(), {
    zeroValue: 'write',
    doc: 'Time of the first occurrence. Newer components set `eventTime` instead.',
  }),
  lastTimestamp: field(7, s.time(), {
    zeroValue: 'write',
    doc: 'Time of the last occurrence. Newer components set `series` instead.',
  }),
  count: field(8, s.int32(), { doc: 'Number of occurrences. Newer components set `series` instead.' }),
  type: field(9, s.string(), {
    doc: 'Type of the event: `Normal` or `Warning`. More types may be added in the future.',
  }),
  eventTime: field(10, s.microTime(), {
    zeroValue: 'write',
    doc: 'Time of the first occurrence. If set, `reportingComponent`, `reportingInstance`, `action` and `reason` are required.',
  }),
  series: field(11, series, {
    doc: 'Number of occurrences and the time of the last one. Set only for repeated events.',
  }),
  action: field(12, s.string(), { doc: 'Action that was taken or attempted on the object. At most 128 bytes.' }),
  related: field(13, objectReference, { doc: 'Second object involved in the event.' }),
  reportingComponent: field(14, s.string(), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Qualified name of the controller that reported the event, for example `example.com/scheduler`.',
  }),
  reportingInstance: field(15, s.string(), {
    zeroValue: 'write',
    published: 'optional',
    doc: 'Instance of the controller that reported the event, for example its pod name. At most 128 bytes.',
  }),
}

export type Event = ObjectOf<typeof fields>

export const event = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    scope: 'Namespaced',
    nameFormat: () => [],
  },
  doc: 'A report that something happened to an object in the cluster. Delivery is not guaranteed, so programs should not rely on events.',
  fields,
  rules: {
    metadataLast: ({ through }) => through !== 'events/v1',
    validate: (object, context) => [
      ...(object.eventTime ? checkNewer(object, context) : checkOlder(object)),
      ...(context.through === 'events/v1' ? checkFinalizers(object, context.vendor) : []),
    ],
    validateUpdate: (next, previous, context) =>
      context.through === 'events/v1' && isAtLeast(emulationOf(context).version, '1.24')
        ? checkUnchanged(next, previous)
        : [],
    validateCreate: (object, { through }) =>
      through === 'events/v1' ? [...checkStrictly(object), ...checkNames(object)] : [],
  },
  lifecycle: {
    createOnUpdate: true,
    expires: true,
    ownsNothing: true,
    plainFinalizers: true,
  },
  views: {
    columns: [
      column('Last Seen', 'Time since the last occurrence.', lastSeen),
      column('Type', 'Type of the event: Normal or Warning.', ({ type }: Event) => type ?? ''),
      column('Reason', 'Machine-readable reason for the event.', ({ reason }: Event) => reason ?? ''),
      column('Object', 'Object that the event is about.', objectOf),
      column(
        'Subobject',
        'Part of the object that the event is about.',
        ({ involvedObject }: Event) => involvedObject?.fieldPath ?? '',
        1,
      ),
      column('Source', 'Component that reported the event.', reporterOf, 1),
      column('Message', 'Human-readable description of the event.', ({ message = '' }: Event) => message.trim()),
      column('First Seen', 'Time since the first occurrence.', firstSeen, 1),
      column(
        'Count',
        'Number of occurrences.',
        ({ series, count }: Event) => (series ? (series.count ?? 0) : count || 1),
        1,
      ),
      { ...nameColumn, priority: 1 },
    ],
    selectable: ({ involvedObject: about = {}, reason, type, source, reportingComponent }) => ({
      'involvedObject.kind': about.kind ?? '',
      'involvedObject.namespace': about.namespace ?? '',
      'involvedObject.name': about.name ?? '',
      'involvedObject.uid': about.uid ?? '',
      'involvedObject.apiVersion': about.apiVersion ?? '',
      'involvedObject.resourceVersion': about.resourceVersion ?? '',
      'involvedObject.fieldPath': about.fieldPath ?? '',
      reason: reason ?? '',
      reportingComponent: reportingComponent ?? '',
      source: source?.component || reportingComponent || '',
      type: type ?? '',
    }),
  },
})

function firstSeen({ firstTimestamp, eventTime }: Event, now: number): string {
  return ago(firstTimestamp || eventTime, now)
}

function lastSeen(object: Event, now: number): string {
  if (object.series) return ago(object.series.lastObservedTime, now)
  return object.lastTimestamp ? ago(object.lastTimestamp, now) : firstSeen(object, now)
}

function objectOf({ involvedObject: { kind = '', name = '' } = {} }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function reporterOf({ source = {}, reportingComponent, reportingInstance }: Event): string {
  const component = source.component || reportingComponent || ''
  const instance = source.host || reportingInstance
  return instance ? `${component}, ${instance}` : component
}

/** Validates an event of an older client. An event about a cluster-scoped object must be in the namespace `default`. */
function checkOlder({ metadata, involvedObject }: Event): FieldError[] {
  const namespace = involvedObject?.namespace ?? ''
  const agree = namespace === metadata.namespace || (namespace === '' && metadata.namespace === 'default')
  return agree ? [] : [wrongNamespace(namespace)]
}

const maxWordLength = 128
const maxMessageLength = 1024
/** Namespaces that may contain events about cluster-scoped objects. */
const withoutNamespace = ['default', 'kube-system']

/**
 * Validates an event of a newer client. Errors use the field name of the events group (`reportingController`). Since
 * 1.24, errors for writes through the core group use the field name of the core group.
 */
function checkNewer(object: Event, context: RuleContext): FieldError[] {
  const isCore = context.through !== 'events/v1' && isAtLeast(emulationOf(context).version, '1.24')
  const tellerPath = isCore ? 'reportingComponent' : 'reportingController'
  const { metadata, involvedObject, reportingComponent: teller = '', reportingInstance, action, reason } = object
  const namespace = involvedObject?.namespace ?? ''
  const placed = namespace !== '' || withoutNamespace.includes(metadata.namespace ?? '')
  return [
    ...(placed ? [] : [wrongNamespace(namespace)]),
    ...(teller === '' ? [required(tellerPath)] : []),
    ...checkQualifiedName(teller).map((text) => invalid(tellerPath, teller, text)),
    ...checkWord('reportingInstance', reportingInstance),
    ...checkWord('action', action),
    ...checkWord('reason', reason),
    ...checkLength('message', object.message ?? '', maxMessageLength),
  ]
}

/** The fields that writes through the events group cannot change. Only the series and the metadata can change. */
const fixedFields = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingInstance',
] as const

function checkUnchanged(next: Event, previous: Event): FieldError[] {
  return [
    ...fixedFields.flatMap((name) => immutableField(name, next[name] ?? null, previous[name] ?? null)),
    ...immutableField('reportingController', next.reportingComponent ?? '', previous.reportingComponent ?? ''),
  ]
}

/** Validates events that are created through the events group, which rejects the fields of older clients. */
function checkStrictly({ eventTime, series, type = '', ...older }: Event): FieldError[] {
  const { firstTimestamp, lastTimestamp, count, source } = older
  const unset = { firstTimestamp, lastTimestamp, count, source: source?.component || source?.host }
  const nonEmptyFields = Object.entries(unset).filter(([, value]) => value)
  return [
    ...(eventTime ? [] : [required('eventTime')]),
    ...(series === undefined ? [] : checkSeries(series)),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...nonEmptyFields.map(([path]) => invalid(path, '', 'needs to be unset')),
  ]
}

/** Validates the name of an event in the events group, which has stricter rules than the core group. */
function checkNames({ metadata }: Event): FieldError[] {
  const { name = '', generateName: prefix = '' } = metadata
  return [
    ...(prefix === '' ? [] : asPrefix(checkDnsSubdomain)(prefix)).map((text) =>
      invalid('metadata.generateName', prefix, text),
    ),
    ...(name === '' ? [] : checkDnsSubdomain(name)).map((text) => invalid('metadata.name', name, text)),
  ]
}

/** Requires each finalizer to have a domain. The core API accepts finalizers without a domain. */
function checkFinalizers({ metadata }: Event, vendor: Vendor): FieldError[] {
  return (metadata.finalizers ?? [])
    .slice(0, maxFaults)
    .flatMap((name, i) =>
      checkFinalizerDomain(name, vendor).map((text) => invalid(at('metadata.finalizers', i), name, text)),
    )
}

function checkSeries({ count = 0, lastObservedTime }: NonNullable<Event['series']>): FieldError[] {
  return [
    ...(count < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ]
}

function wrongNamespace(namespace: string): FieldError {
  return invalid('involvedObject.namespace', namespace, 'must equal the namespace of the event')
}

function checkWord(path: string, word = ''): FieldError[] {
  return word === '' ? [required(path)] : checkLength(path, word, maxWordLength)
}

function checkLength(path: string, text: string, limit: number): FieldError[] {
  return Buffer.byteLength(text) > limit ? [invalid(path, '', `can have at most ${limit} bytes`)] : []
}
