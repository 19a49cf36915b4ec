/**
 * Event: a report of something that happened to an object. Two generations of reporters share the kind:
 * the older count repetitions in `count`, `firstTimestamp` and `lastTimestamp` and are hardly checked; the newer set
 * `eventTime`, count in `series`, and must say who they are and what they did.
 */
import { at, type FieldError, invalid, maxFaults, required } from '../../model/field-error.ts'
import { checkFinalizerDomain } from '../../model/finalizers.ts'
import { asPrefix, checkDnsSubdomain, checkQualifiedName } from '../../model/names.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ago, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { objectMeta } from '../../schema/object-meta.ts'
import { field, s } from '../../schema/schema.ts'
import { objectReference } from './types/references.ts'

export const eventSource = s.object(
  {
    component: field(1, s.string(), { doc: 'The component that reports it.' }),
    host: field(2, s.string(), { doc: 'The node that it runs on.' }),
  },
  { name: 'core.v1.EventSource', doc: 'The reporter of an event.' },
)

const series = s.object(
  {
    count: field(1, s.int32(), { doc: 'How often it happened, up to lastObservedTime.' }),
    lastObservedTime: field(2, s.microTime(), { zero: 'write', doc: 'When it last happened.' }),
  },
  { name: 'EventSeries', doc: 'How often something happened that goes on happening.' },
)

const fields = {
  metadata: field(1, objectMeta, {
    zero: 'write',
    published: 'required',
    doc: 'Standard metadata: name, labels and others.',
  }),
  involvedObject: field(2, objectReference, {
    zero: 'write',
    published: 'required',
    doc: 'The object that it happened to. It is in the namespace of the event.',
  }),
  reason: field(3, s.string(), { doc: 'Why it happened, in one word for programs.' }),
  message: field(4, s.string(), { doc: 'What happened, for people.' }),
  source: field(5, eventSource, { zero: 'write', doc: 'The reporter. Newer reporters set reportingComponent.' }),
  firstTimestamp: field(6, s.time(), { zero: 'write', doc: 'When it first happened. Newer reporters set eventTime.' }),
  lastTimestamp: field(7, s.time(), { zero: 'write', doc: 'When it last happened. Newer reporters keep a series.' }),
  count: field(8, s.int32(), { doc: 'How often it happened. Newer reporters keep a series.' }),
  type: field(9, s.string(), { doc: 'Normal or Warning; there may be others one day.' }),
  eventTime: field(10, s.microTime(), {
    zero: 'write',
    doc: 'When it first happened. With it, reportingComponent, reportingInstance, action and reason are demanded.',
  }),
  series: field(11, series, { doc: 'How often it happened, if more than once.' }),
  action: field(12, s.string(), { doc: 'What was done, or failed, to the object; at most 128 bytes.' }),
  related: field(13, objectReference, { doc: 'Another object that took part in it.' }),
  reportingComponent: field(14, s.string(), {
    zero: 'write',
    published: 'optional',
    doc: 'The controller that reports it, as a qualified name such as `example.com/scheduler`.',
  }),
  reportingInstance: field(15, s.string(), {
    zero: 'write',
    published: 'optional',
    doc: 'The instance of the controller, such as its pod; at most 128 bytes.',
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
    form: () => [],
  },
  doc: 'A report of something that happened to an object. Programs should not rely on events: they may be missing.',
  fields,
  rules: {
    metadataLast: ({ through }) => through !== 'events/v1',
    validate: (object, { through, vendor }) => [
      ...(object.eventTime ? checkNewer(object) : checkOlder(object)),
      ...(through === 'events/v1' ? checkFinalizers(object, vendor) : []),
    ],
    validateCreate: (object, { through }) =>
      through === 'events/v1' ? [...checkStrictly(object), ...checkNames(object)] : [],
  },
  life: {
    createOnUpdate: true,
    expires: true,
    ownsNothing: true,
    plainFinalizers: true,
  },
  views: {
    columns: [
      column('Last Seen', 'How long ago it last happened.', lastSeen),
      column('Type', 'Normal or Warning.', ({ type }: Event) => type ?? ''),
      column('Reason', 'Why it happened, in one word.', ({ reason }: Event) => reason ?? ''),
      column('Object', 'The object that it happened to.', objectOf),
      column('Subobject', 'The part of the object.', ({ involvedObject }: Event) => involvedObject?.fieldPath ?? '', 1),
      column('Source', 'Who reports it.', reporterOf, 1),
      column('Message', 'What happened.', ({ message = '' }: Event) => message.trim()),
      column('First Seen', 'How long ago it first happened.', firstSeen, 1),
      column(
        'Count',
        'How often it happened.',
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

/** Events of objects without a namespace are in `default`. */
function checkOlder({ metadata, involvedObject }: Event): FieldError[] {
  const namespace = involvedObject?.namespace ?? ''
  const agree = namespace === metadata.namespace || (namespace === '' && metadata.namespace === 'default')
  return agree ? [] : [wrongNamespace(namespace)]
}

const maxWordLength = 128
const maxMessageLength = 1024
/** Where events of objects without a namespace may be. */
const withoutNamespace = ['default', 'kube-system']

/** Faults name the teller as its own API does, which clients are used to. */
function checkNewer(object: Event): FieldError[] {
  const { metadata, involvedObject, reportingComponent: teller = '', reportingInstance, action, reason } = object
  const namespace = involvedObject?.namespace ?? ''
  const placed = namespace !== '' || withoutNamespace.includes(metadata.namespace ?? '')
  return [
    ...(placed ? [] : [wrongNamespace(namespace)]),
    ...(teller === '' ? [required('reportingController')] : []),
    ...checkQualifiedName(teller).map((text) => invalid('reportingController', teller, text)),
    ...checkWord('reportingInstance', reportingInstance),
    ...checkWord('action', action),
    ...checkWord('reason', reason),
    ...checkLength('message', object.message ?? '', maxMessageLength),
  ]
}

/** What the newest version of the API asks of a new event: the ways of older reporters are not accepted there. */
function checkStrictly({ eventTime, series, type = '', ...older }: Event): FieldError[] {
  const { firstTimestamp, lastTimestamp, count, source } = older
  const unset = { firstTimestamp, lastTimestamp, count, source: source?.component || source?.host }
  const left = Object.entries(unset).filter(([, value]) => value)
  return [
    ...(eventTime ? [] : [required('eventTime')]),
    ...(series === undefined ? [] : checkSeries(series)),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...left.map(([path]) => invalid(path, '', 'needs to be unset')),
  ]
}

/** In the older forms any name will do. */
function checkNames({ metadata }: Event): FieldError[] {
  const { name = '', generateName: prefix = '' } = metadata
  return [
    ...(prefix === '' ? [] : asPrefix(checkDnsSubdomain)(prefix)).map((text) =>
      invalid('metadata.generateName', prefix, text),
    ),
    ...(name === '' ? [] : checkDnsSubdomain(name)).map((text) => invalid('metadata.name', name, text)),
  ]
}

/** In the older forms they need no domain. */
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
  return invalid('involvedObject.namespace', namespace, 'must be the namespace of the event')
}

function checkWord(path: string, word = ''): FieldError[] {
  return word === '' ? [required(path)] : checkLength(path, word, maxWordLength)
}

function checkLength(path: string, text: string, limit: number): FieldError[] {
  return Buffer.byteLength(text) > limit ? [invalid(path, '', `can have at most ${limit} bytes`)] : []
}
