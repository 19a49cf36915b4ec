/**
 * Implements `orchctl describe`, which shows an object in detail. `describers.ts` contains describers for common kinds.
 * For all other kinds, the command lists the fields. Every description ends with the latest events.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../../../api/model/vendor.ts'
import { flag, readBoolean, UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import { chunkSizeFlag, findSubjects, type Subject, subjectFlags } from '../../arguments/subjects.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { sessionWithoutNulls, withoutNulls } from '../../changes/remove-nulls.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { paintDescription, painterFor } from '../../printers/colours.ts'
import { escapeText } from '../../printers/escape.ts'
import { alignTabs } from '../../printers/tabs.ts'
import { defineCommand } from '../../program/command.ts'
import { SeveralErrors } from '../../program/explain-error.ts'
import { describers } from './describers.ts'
import { describeEvents } from './events.ts'
import { describeFields } from './fields.ts'

const { all: _, ...chosenBy } = subjectFlags

const flags = {
  showEvents: flag({
    name: 'show-events',
    default: 'true',
    read: readBoolean,
    help: "include the object's events",
  }),
  ...chosenBy,
  chunkSize: chunkSizeFlag,
  ...connectionFlags,
}

export const describeCommand = defineCommand({
  name: 'describe',
  forms: ['TYPE[,TYPE...] [NAME...] [flags]', 'TYPE/NAME... [flags]', '-f FILE [flags]'],
  about:
    'Show objects in detail, with their events. If no object has the given name, show all objects whose names start with it.',
  examples: ['orchctl describe configmap greeting', 'orchctl describe pods -l app=web', 'orchctl describe -f pod.yaml'],
  flags,
  run: async (context, { options, words }) => {
    if (words.length === 0 && options.filename.length === 0)
      throw new UsageError('you must specify the type of resource to describe: see `orchctl api-resources`')
    await withSession(context, options, async (session) => {
      const hasTargets = options.filename.length > 0 || words.length > 1 || words.some((word) => word.includes('/'))
      const all = !hasTargets && options.selector === '' && options.fieldSelector === ''
      const subjects = await findSubjects(session, words, { ...options, all })
      if (subjects.length === 0)
        return context.err(
          options.allNamespaces ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`,
        )
      await describeAll(session, subjects, options)
    })
  },
})

async function describeAll(
  session: Session,
  subjects: readonly Subject[],
  { showEvents }: { readonly showEvents: boolean },
): Promise<void> {
  const errors: unknown[] = []
  let separator = ''
  for (const subject of subjects) {
    try {
      for (const object of await objectsOf(session, subject)) {
        session.context.out(separator + (await described(session, { type: subject.type, object, showEvents })))
        separator = '\n\n'
      }
    } catch (error) {
      session.context.signal.throwIfAborted()
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new SeveralErrors(errors)
}

/** Returns the object with this name. If there is none, returns the objects whose names start with it. */
async function objectsOf(session: Session, subject: Subject): Promise<ApiObject[]> {
  try {
    return [await liveOf(session, subject)]
  } catch (error) {
    const { type, name } = subject
    const place = name.namespace === undefined ? {} : { namespace: name.namespace }
    const { items } = await session.client.list(type, { ...place, signal: session.context.signal })
    const beginning = items.filter(({ metadata }) => metadata.name?.startsWith(name.name))
    if (beginning.length === 0) throw error
    return beginning
  }
}

interface Subjected {
  readonly type: DiscoveredType
  readonly object: ApiObject
  readonly showEvents: boolean
}

async function described(session: Session, { type, object, showEvents }: Subjected): Promise<string> {
  const describer = describers.find(({ group, kind }) => kind === type.kind && isGroup(group, type.group))
  const typed = sessionWithoutNulls(session)
  const body = describer === undefined ? describeFields(object) : await describer.describe(withoutNulls(object), typed)
  const events = showEvents && describer?.events !== false ? await describeEvents(typed, object) : ''
  const text = alignTabs(escapeText(`${body}${events}`))
  const painted = painterFor(session.context, 'out')
  return painted === undefined ? text : paintDescription(text, painted)
}

/** Whether this is the API group with the given short name, in any vendor's naming scheme. */
function isGroup(short: string, group: string): boolean {
  return profileNames.some((profile) => groupName(vendorOf(profile), short) === group)
}
