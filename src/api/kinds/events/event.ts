/**
 * Event as the group `events` has it: the objects of the core kind in other words. What only the older form has is
 * called deprecated here; nothing is lost in either direction.
 */
import { defined } from '../../json/json.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { type Event as CoreEvent, event as coreEvent, eventSource } from '../core/event.ts'
import { objectReference } from '../core/types/references.ts'

const series = s.object(
  {
    count: field(1, s.int32(), {
      zero: 'write',
      required: true,
      doc: 'How often it happened, up to lastObservedTime.',
    }),
    lastObservedTime: field(2, s.microTime(), { zero: 'write', required: true, doc: 'When it last happened.' }),
  },
  { name: 'EventSeries', doc: 'How often something happened that goes on happening.' },
)

const fields = {
  eventTime: field(2, s.microTime(), { zero: 'write', published: 'required', doc: 'When it first happened.' }),
  series: field(3, series, { doc: 'How often it happened, if more than once.' }),
  reportingController: field(4, s.string(), {
    doc: 'The controller that reports it, as a qualified name such as `example.com/scheduler`.',
  }),
  reportingInstance: field(5, s.string(), { doc: 'The instance of the controller, such as its pod.' }),
  action: field(6, s.string(), { doc: 'What was done, or failed, to the object; at most 128 bytes.' }),
  reason: field(7, s.string(), { doc: 'Why it was done, in one word for programs; at most 128 bytes.' }),
  regarding: field(8, objectReference, { zero: 'write', doc: 'The object that it happened to.' }),
  related: field(9, objectReference, { doc: 'Another object that took part in it.' }),
  note: field(10, s.string(), { doc: 'What happened, for people; at most 1 kB.' }),
  type: field(11, s.string(), { doc: 'Normal or Warning; there may be others one day.' }),
  deprecatedSource: field(12, eventSource, { zero: 'write', doc: 'The source of the older form.' }),
  deprecatedFirstTimestamp: field(13, s.time(), { zero: 'write', doc: 'The firstTimestamp of the older form.' }),
  deprecatedLastTimestamp: field(14, s.time(), { zero: 'write', doc: 'The lastTimestamp of the older form.' }),
  deprecatedCount: field(15, s.int32(), { doc: 'The count of the older form.' }),
}

export type Event = ObjectOf<typeof fields>

const conversion = {
  fromStored: (stored: CoreEvent): Event => {
    const { involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest } = stored
    const { reportingComponent, reportingInstance, series, ...same } = rest
    return {
      ...same,
      ...defined({
        regarding: involvedObject,
        note: message,
        series: series && { count: 0, ...series },
        // The core kind shows these even when they are empty.
        reportingController: reportingComponent || undefined,
        reportingInstance: reportingInstance || undefined,
        deprecatedSource: source,
        deprecatedFirstTimestamp: firstTimestamp,
        deprecatedLastTimestamp: lastTimestamp,
        deprecatedCount: count,
      }),
    }
  },
  toStored: (object: Event): CoreEvent => {
    const { regarding, note, reportingController, deprecatedSource, ...rest } = object
    const { deprecatedFirstTimestamp, deprecatedLastTimestamp, deprecatedCount, ...same } = rest
    return {
      ...same,
      ...defined({
        involvedObject: regarding,
        message: note,
        reportingComponent: reportingController,
        source: deprecatedSource,
        firstTimestamp: deprecatedFirstTimestamp,
        lastTimestamp: deprecatedLastTimestamp,
        count: deprecatedCount,
      }),
    }
  },
}

const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

/** What field selectors call the fields here, and what the core kind calls them. */
const selectable = {
  ...Object.fromEntries(parts.map((part) => [`regarding.${part}`, `involvedObject.${part}`])),
  reason: 'reason',
  reportingController: 'reportingComponent',
  type: 'type',
}

export const eventV1 = defineVersion(coreEvent, { group: 'events', version: 'v1', fields, selectable, ...conversion })

/** The same fields under looser rules: those of the core kind. */
export const eventV1beta1 = defineVersion(coreEvent, {
  group: 'events',
  version: 'v1beta1',
  fields,
  selectable,
  deprecated: { since: 'v1.22', until: 'v1.25' },
  ...conversion,
})
