/**
 * Formats events as table rows for `events` and `describe`: the object, the reason, the time and the number of
 * occurrences.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { humanDuration } from '../../../base/time/human-duration.ts'

export interface EventObject extends ApiObject {
  type?: string
  reason?: string
  message?: string
  count?: number
  firstTimestamp?: string
  lastTimestamp?: string
  eventTime?: string
  reportingComponent?: string
  source?: { component?: string; host?: string }
  series?: { count?: number; lastObservedTime?: string }
  involvedObject?: { kind?: string; name?: string; namespace?: string; uid?: string }
}

/** Returns the age of an event, such as `5m`, or `10s (x3 over 5m)` for a repeated event. */
export function eventAge(event: EventObject, now: number): string {
  const last = event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime
  const first = event.firstTimestamp ?? event.eventTime
  const count = event.series?.count ?? event.count ?? 1
  if (count <= 1) return since(first ?? last ?? event.metadata.creationTimestamp, now)
  return `${since(last, now)} (x${count} over ${since(first, now)})`
}

/** Returns the time when the event last occurred, for sorting. */
export function eventTime(event: EventObject): number {
  const time =
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp
  return time === undefined ? 0 : Date.parse(time)
}

function since(time: string | undefined | null, now: number): string {
  return time === undefined || time === null ? '<unknown>' : humanDuration(now - Date.parse(time))
}

/** Returns the component that reported the event. */
export function eventSource({ source, reportingComponent = '' }: EventObject): string {
  const component = source?.component || reportingComponent
  return source?.host ? `${component}, ${source.host}` : component
}
