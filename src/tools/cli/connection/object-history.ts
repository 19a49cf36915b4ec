/** Queries the history of objects: the changes to an object, and objects at a past revision or time. */

import type { JsonObject } from '../../../api/json/json.ts'
import type { PathElement } from '../../../api/json/json-changes.ts'
import { type ApiObject, asObject } from '../../../api/model/object.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'
import { readTargetWords } from '../arguments/targets.ts'
import { askServer } from './ask-server.ts'
import type { Session } from './session.ts'

type StatusOf<T extends { readonly status?: unknown }> = NonNullable<T['status']>

export type HistoryRevision = NonNullable<StatusOf<kinds.ObjectHistory>['revisions']>[number]

export type FieldChange = NonNullable<HistoryRevision['changes']>[number]

/** Returns the path of a changed field. */
export function stepsOf({ steps = [] }: FieldChange): PathElement[] {
  return steps.map(({ member, named }) => (named === undefined ? { member: member ?? '' } : { named }))
}

/** An object whose history is requested. The object may have been deleted. */
export interface PastSubject {
  readonly type: DiscoveredType
  readonly name: string
  readonly namespace: string
}

/**
 * Parses the single object in the arguments. The object may have been deleted. Throws UsageError unless there is
 * exactly one object.
 */
export async function pastSubject(session: Session, words: readonly string[]): Promise<PastSubject> {
  const [targetWord, ...more] = readTargetWords(words)
  if (targetWord?.name === undefined || more.length > 0)
    throw new UsageError('specify one object: TYPE NAME or TYPE/NAME')
  const type = await session.types.typeNamed(targetWord.type)
  return { type, name: targetWord.name, namespace: type.namespaced ? session.namespace : '' }
}

const pageSize = 100

/** Returns the changes to an object, newest first. Reads more pages until the history ends or the consumer stops. */
export async function* changesOf(session: Session, subject: PastSubject): AsyncGenerator<HistoryRevision> {
  for (let before = ''; ; ) {
    const spec = { ...specOf(subject), ...(before === '' ? {} : { before }), limit: pageSize }
    const { revisions = [], more } = await askServer<StatusOf<kinds.ObjectHistory>>(session, kinds.ObjectHistory, spec)
    yield* revisions
    if (!more || revisions.length === 0) return
    before = revisions.at(-1)!.revision ?? ''
  }
}

/** Returns past objects: a single object, or all objects of a type if `name` is ''. */
export async function stateAt(session: Session, subject: PastSubject, at: string): Promise<ApiObject[]> {
  const pastObjects: ApiObject[] = []
  let when: JsonObject = momentOf(at)
  for (let rest = ''; ; ) {
    const spec = { ...specOf(subject), ...when, ...(rest === '' ? {} : { continue: rest }) }
    const answer = await askServer<StatusOf<kinds.PastState>>(session, kinds.PastState, spec)
    const { items = [], revision = '', continue: next = '' } = answer
    pastObjects.push(...items.map((item) => asObject(item as JsonObject)))
    if (next === '') return pastObjects
    rest = next
    // Read later pages at the same revision as the first page.
    when = { revision }
  }
}

/** Parses a point in time: a resourceVersion, a time or an age. */
function momentOf(at: string): JsonObject {
  if (/^\d+$/.test(at)) return { revision: at }
  const ago = /^(\d+)(s|m|h|d)$/.exec(at)
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }
  const ms = ago ? Date.now() - 1000 * Number(ago[1]) * seconds[ago[2] as keyof typeof seconds] : Date.parse(at)
  if (Number.isNaN(ms))
    throw new UsageError(
      `--at: ${JSON.stringify(at)} is not a resourceVersion (1234), a time (2026-11-16T12:00:00Z) or an age (90m)`,
    )
  return { time: new Date(ms).toISOString() }
}

function specOf({ type, name, namespace }: PastSubject): JsonObject {
  return { group: type.group, resource: type.plural, namespace, name }
}
