/** `orchctl events`: what happened lately, the latest last. */
import { flag, type OptionsOf, text, toggle } from '../../base/flags.ts'
import { watch } from '../../client/watch.ts'
import { defineCommand, refuseWords } from '../command.ts'
import { connectionFlags } from '../connection-flags.ts'
import { type EventObject, eventAge, eventTime } from '../event-rows.ts'
import { Columns } from '../printers/columns.ts'
import { escapeLine } from '../printers/escape.ts'
import { type Session, withSession } from '../session.ts'

const flags = {
  allNamespaces: toggle('A,all-namespaces', 'in all namespaces'),
  for: flag('for', 'TYPE/NAME', '', text, 'only those about this object'),
  types: flag('types', 'TYPE,...', '', text, 'only those of these types: Normal, Warning'),
  watch: toggle('w,watch', 'show what there is, and then what happens, until Ctrl-C'),
  noHeaders: toggle('no-headers', 'without the line of headings'),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

const events = { group: '', version: 'v1', plural: 'events', namespaced: true }

export const eventsCommand = defineCommand({
  name: 'events',
  forms: ['[flags]'],
  about: 'Shows what happened lately in a namespace, the latest last.',
  examples: ['orchctl events', 'orchctl events -A --types=Warning', 'orchctl events --for=pod/web -w'],
  flags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    await withSession(context, options, async (session) => await show(session, options))
  },
})

async function show(session: Session, options: Options): Promise<void> {
  const { client, context, namespace } = session
  const selection = {
    ...(options.allNamespaces ? {} : { namespace }),
    ...(await subjectSelector(session, options.for)),
    signal: context.signal,
  }
  const { items, resourceVersion } = await client.list(events, selection)
  const wanted = (items as EventObject[])
    .filter((event) => isWanted(event, options.types))
    .sort((a, b) => eventTime(a) - eventTime(b))
  if (wanted.length === 0 && !options.watch)
    return context.err(options.allNamespaces ? 'No events found.\n' : `No events found in ${namespace} namespace.\n`)
  const lines = new Columns()
  context.out(
    lines.lines([...(options.noHeaders ? [] : [headings(options)]), ...wanted.map((event) => rowOf(event, options))]),
  )
  if (!options.watch) return
  for await (const change of watch(client, events, { ...selection, resourceVersion }))
    if (
      change.type !== 'BOOKMARK' &&
      change.type !== 'DELETED' &&
      isWanted(change.object as EventObject, options.types)
    )
      context.out(lines.lines([rowOf(change.object as EventObject, options)]))
}

async function subjectSelector(session: Session, subject: string): Promise<{ fieldSelector?: string }> {
  if (subject === '') return {}
  const { readWanted } = await import('../targets.ts')
  const [{ type = '', name } = {}] = readWanted([subject])
  const { kind } = await session.types.named(type)
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
