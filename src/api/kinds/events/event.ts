/**
 * An Event in the `events` group is an alternative representation of the core Event. Fields that exist only in the core
 * version have the prefix `deprecated`, so conversion loses nothing.
 */
import { defined } from '../../json/json.ts'
import { defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { type Event as CoreEvent, event as coreEvent, eventSource } from '../core/event.ts'
import { objectReference } from '../core/types/references.ts'

const series = s.object(
  {
    count: field(1, s.int32(), {
      zeroValue: 'write',
      required: true,
      doc: 'Number of occurrences in the series so far, including the one at `lastObservedTime`.',
    }),
    lastObservedTime: field(2, s.microTime(), {
      zeroValue: 'write',
      required: true,
      doc: 'Time of the last occurrence.',
    }),
  },
  { name: 'EventSeries', doc: 'Number of occurrences of a repeated event, and the time of the last one.' },
)

const fields = {
  eventTime: field(2, s.microTime(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Time of the first occurrence.',
  }),
  series: field(3, series, {
    doc: 'Number of occurrences and the time of the last one. Unset if the event occurred only once.',
  }),
  reportingController: field(4, s.string(), {
    doc: 'Qualified name of the controller that reported the event, for example `example.com/scheduler`.',
  }),
  reportingInstance: field(5, s.string(), {
    doc: 'Instance of the controller that reported the event, for example its pod name.',
  }),
  action: field(6, s.string(), { doc: 'Action that was taken or attempted on the object. At most 128 bytes.' }),
  reason: field(7, s.string(), { doc: 'Machine-readable reason for the action. At most 128 bytes.' }),
  regarding: field(8, objectReference, { zeroValue: 'write', doc: 'Object that the event is about.' }),
  related: field(9, objectReference, { doc: 'Second object involved in the event.' }),
  note: field(10, s.string(), { doc: 'Human-readable description of the event. At most 1 kB.' }),
  type: field(11, s.string(), {
    doc: 'Type of the event: `Normal` or `Warning`. More types may be added in the future.',
  }),
  deprecatedSource: field(12, eventSource, { zeroValue: 'write', doc: 'Value of the `source` field in core/v1.' }),
  deprecatedFirstTimestamp: field(13, s.time(), {
    zeroValue: 'write',
    doc: 'Value of the `firstTimestamp` field in core/v1.',
  }),
  deprecatedLastTimestamp: field(14, s.time(), {
    zeroValue: 'write',
    doc: 'Value of the `lastTimestamp` field in core/v1.',
  }),
  deprecatedCount: field(15, s.int32(), { doc: 'Value of the `count` field in core/v1.' }),
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
        // Omit these fields if they are empty in the core version, which always contains them.
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

/** Field selectors of the `events` group, mapped to those of the core group. */
const selectable = {
  ...Object.fromEntries(parts.map((part) => [`regarding.${part}`, `involvedObject.${part}`])),
  reason: 'reason',
  reportingController: 'reportingComponent',
  type: 'type',
}

export const eventV1 = defineVersion(coreEvent, { group: 'events', version: 'v1', fields, selectable, ...conversion })

/** Event v1beta1, which has the fields of v1 but is validated with the looser rules of the core group. */
export const eventV1beta1 = defineVersion(coreEvent, {
  group: 'events',
  version: 'v1beta1',
  fields,
  selectable,
  until: '1.25',
  deprecated: { since: '1.22' },
  ...conversion,
})
