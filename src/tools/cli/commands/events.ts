/** Implements `orchctl events`, which lists recent events, oldest first. */

import { flag, type OptionsOf, text, toggle } from '../../../base/flags/flags.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Selection } from '../../../client/requests/resource-type.ts'
import { changesOf, type Feed, follow } from '../changes/list-and-watch.ts'
import { withTypedSession } from '../changes/remove-nulls.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import type { Session } from '../connection/session.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { type EventObject, eventAge, eventTime } from '../printers/event-rows.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

const flags = {
  allNamespaces: toggle({ name: 'all-namespaces', letter: 'A', help: 'list events in all namespaces' }),
  for: flag({ name: 'for', value: 'TYPE/NAME', read: text, help: 'list only events about the given object' }),
  types: flag({
    name: 'types',
    value: 'TYPE,...',
    read: text,
    help: 'list only events of the given types: Normal, Warning',
  }),
  watch: toggle({ name: 'watch', letter: 'w', help: 'list events, and then print new events; press Ctrl-C to stop' }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const eventsCommand = defineCommand({
  name: 'events',
  forms: ['[flags]'],
  about: 'List recent events in a namespace, newest last.',
  examples: ['orchctl events', 'orchctl events -A --types=Warning', 'orchctl events --for=pod/web -w'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withTypedSession(context, options, async (session) => await show(session, options))
  },
})

async function show(session: Session, options: Options): Promise<void> {
  const feed = feedOf(session, options, await subjectSelector(session, options.for))
  if (options.watch) await follow(session.context, feed)
  else await feed.list(false)
}

function feedOf({ client, context, namespace }: Session, options: Options, about: Selection): Feed {
  const { allNamespaces, types, watch } = options
  const selection = { ...(allNamespaces ? {} : { namespace }), ...about, signal: context.signal }
  const lines = new Columns()
  let headed = options.noHeaders
  const print = (eventsToPrint: readonly EventObject[]) => {
    const rows = eventsToPrint.map((event) => rowOf(event, options))
    context.out(lines.lines(headed ? rows : [headings(options), ...rows]))
    headed = true
  }
  return {
    list: async () => {
      const { items, resourceVersion } = await client.list(kinds.Event, selection)
      const matchingEvents = items.filter((event) => isWanted(event, types))
      if (matchingEvents.length > 0 || watch) print(matchingEvents.sort((a, b) => eventTime(a) - eventTime(b)))
      else context.err(allNamespaces ? 'No events found.\n' : `No events found in ${namespace} namespace.\n`)
      return resourceVersion
    },
    watch: changesOf(client, kinds.Event, {
      selection,
      show: ({ type, object }) => {
        if (type !== 'DELETED' && isWanted(object, types)) print([object])
      },
    }),
  }
}

async function subjectSelector(session: Session, subject: string): Promise<Selection> {
  if (subject === '') return {}
  const { readTargetWords: readWanted } = await import('../arguments/targets.ts')
  const [{ type = '', name } = {}] = readWanted([subject])
  const { kind } = await session.types.typeNamed(type)
  return { fieldSelector: `involvedObject.kind=${kind}${name === undefined ? '' : `,involvedObject.name=${name}`}` }
}

function isWanted({ type = '' }: EventObject, types: string): boolean {
  return types === '' || types.toLowerCase().split(',').includes(type.toLowerCase())
}

function headings({ allNamespaces }: Options): string[] {
  return [...(allNamespaces ? ['NAMESPACE'] : []), 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']
}

function rowOf(event: EventObject, { allNamespaces }: Options): string[] {
  const { kind = '', name = '' } = event.involvedObject ?? {}
  const cells = [
    eventAge(event, Date.now()),
    event.type ?? '',
    event.reason ?? '',
    `${kind}/${name}`,
    (event.message ?? '').trim(),
  ]
  return [...(allNamespaces ? [event.metadata.namespace ?? ''] : []), ...cells].map(escapeLine)
}
