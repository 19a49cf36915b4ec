/** Describes the events about an object. Every description ends with this section. */

import type { ApiObject } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Session } from '../../connection/session.ts'
import { type EventObject, eventAge, eventSource, eventTime } from '../../printers/event-rows.ts'

export async function describeEvents({ client, context }: Session, { metadata, kind }: ApiObject): Promise<string> {
  const fieldSelector = [
    `involvedObject.name=${metadata.name}`,
    `involvedObject.kind=${kind}`,
    ...(metadata.namespace === undefined ? [] : [`involvedObject.namespace=${metadata.namespace}`]),
  ].join(',')
  const place = metadata.namespace === undefined ? {} : { namespace: metadata.namespace }
  const { items } = await client.list(kinds.Event, { ...place, fieldSelector, signal: context.signal })
  // Events about an earlier object with the same name may still exist.
  const own = (items as EventObject[]).filter(
    ({ involvedObject }) => !involvedObject?.uid || involvedObject.uid === metadata.uid,
  )
  if (own.length === 0) return 'Events:\t<none>\n'
  const rows = own
    .sort((a, b) => eventTime(a) - eventTime(b))
    .map((event) => [
      event.type ?? '',
      event.reason ?? '',
      eventAge(event, Date.now()),
      eventSource(event),
      (event.message ?? '').trim(),
    ])
  const headings = [
    ['Type', 'Reason', 'Age', 'From', 'Message'],
    ['----', '------', '----', '----', '-------'],
  ]
  return `Events:\n${[...headings, ...rows].map((row) => `  ${row.map(oneLine).join('\t')}\n`).join('')}`
}

function oneLine(cell: string): string {
  return cell.replaceAll(/\s+/g, ' ')
}
