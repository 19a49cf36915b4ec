/** Asks the server about the past: the changes of an object, and objects as they were at a revision or a time. */

import type { JsonObject } from '../../../api/json/json.ts'
import type { Step } from '../../../api/json/json-changes.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { readWanted } from '../arguments/targets.ts'
import { askServer } from './ask-server.ts'
import type { Session } from './session.ts'

type StatusOf<T extends { readonly status?: unknown }> = NonNullable<T['status']>

export type HistoryRevision = NonNullable<StatusOf<kinds.ObjectHistory>['revisions']>[number]

export type FieldChange = NonNullable<HistoryRevision['changes']>[number]

/** The path to the field that changed. */
export function stepsOf({ steps = [] }: FieldChange): Step[] {
  return steps.map(({ member, named }) => (named === undefined ? { member: member ?? '' } : { named }))
}

/** One object, which may be gone by now. */
export interface PastSubject {
  readonly type: DiscoveredType
  readonly name: string
  readonly namespace: string
}

/** The one object that the words name. */
export async function pastSubject(session: Session, words: readonly string[]): Promise<PastSubject> {
  const [wanted, ...more] = readWanted(words)
  if (wanted?.name === undefined || more.length > 0) throw new UsageError('name one object: TYPE NAME or TYPE/NAME')
  const type = await session.types.named(wanted.type)
  return { type, name: wanted.name, namespace: type.namespaced ? session.namespace : '' }
}

const pageSize = 100

/** The changes of an object, newest first, as far back as they are known; stops when the reader does. */
export async function* changesOf(session: Session, subject: PastSubject): AsyncGenerator<HistoryRevision> {
  for (let before = ''; ; ) {
    const spec = { ...specOf(subject), ...(before === '' ? {} : { before }), limit: pageSize }
    const { revisions = [], more } = await askServer<StatusOf<kinds.ObjectHistory>>(session, kinds.ObjectHistory, spec)
    yield* revisions
    if (!more || revisions.length === 0) return
    before = revisions.at(-1)!.revision ?? ''
  }
}

/** Objects as they were: one, or all of a type where `name` is ''. */
export async function stateAt(session: Session, subject: PastSubject, at: string): Promise<ApiObject[]> {
  const found: ApiObject[] = []
  let when: JsonObject = momentOf(at)
  for (let rest = ''; ; ) {
    const spec = { ...specOf(subject), ...when, ...(rest === '' ? {} : { continue: rest }) }
    const answer = await askServer<StatusOf<kinds.PastState>>(session, kinds.PastState, spec)
    const { items = [], revision = '', continue: next = '' } = answer
    found.push(...items.map((item) => asObject(item as JsonObject)))
    if (next === '') return found
    rest = next
    // All pages are of the state that the first one was.
    when = { revision }
  }
}

/** A resourceVersion, a time, or how long ago. */
function momentOf(at: string): JsonObject {
  if (/^\d+$/.test(at)) return { revision: at }
  const ago = /^(\d+)(s|m|h|d)$/.exec(at)
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }
  const ms = ago ? Date.now() - 1000 * Number(ago[1]) * seconds[ago[2] as keyof typeof seconds] : Date.parse(at)
  if (Number.isNaN(ms))
    throw new UsageError(
      `--at: ${JSON.stringify(at)} is none of a resourceVersion (1234), a time (2026-11-16T12:00:00Z) and an age (90m)`,
    )
  return { time: new Date(ms).toISOString() }
}

function specOf({ type, name, namespace }: PastSubject): JsonObject {
  return { group: type.group, resource: type.plural, namespace, name }
}
