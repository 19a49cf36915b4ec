/** Lists the changes to an object and their authors, from the journal of the store (`objecthistories`). */

import { isObject, type Json } from '../../api/json/json.ts'
import { type JsonChange, pathText } from '../../api/json/json-changes.ts'
import { objectHistory as historyKind, type ObjectHistory } from '../../api/kinds/ops/object-history.ts'
import { badRequest } from '../../api/model/api-error.ts'
import { formatVersion, parseVersion } from '../../api/model/resource-version.ts'
import type { User } from '../../api/model/user.ts'
import type { Kind } from '../../api/schema/kind.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import { type JournaledChange, journalOf, lastDeletion, readObjectChanges } from '../registry/reads/object-journal.ts'
import { historyAccess } from './history-access.ts'
import type { VisibleTypesParts } from './visible-types.ts'

const limits = { default: 20, max: 100 }

export interface HistoryParts extends VisibleTypesParts {
  /** Whether the history includes the values of Secrets. */
  readonly showsSecrets: boolean
}

export function objectHistory(parts: HistoryParts): Endpoint {
  return {
    kind: historyKind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Lists who changed an object, when and how.',
    answer: async ({ object, user }) => {
      const { spec = {} } = object as ObjectHistory
      return { ...object!, status: await answer(parts, spec, user) }
    },
  }
}

type Spec = NonNullable<ObjectHistory['spec']>

async function answer(parts: HistoryParts, spec: Spec, user: User) {
  const { namespace = '', name = '', before = '', limit = 0 } = spec
  if (name === '') throw badRequest('spec.name is required: set the name of the object')
  const { type, sees } = await historyAccess(parts, spec, user)
  const leave = type.historyReaders.enter(user.name)
  try {
    const { changes, more } = await readObjectChanges(
      type,
      { namespace, name },
      {
        before: before === '' ? Number.MAX_SAFE_INTEGER : parseVersion(before),
        after: sees === 'all' ? 0 : await lastDeletion(type, { namespace, name }),
        limit: Math.min(limit > 0 ? limit : limits.default, limits.max),
      },
    )
    return {
      revisions: changes.map((change) => shownChange(change, type.kind, concealedIn(parts, type.kind))),
      ...(more ? { more } : {}),
      oldest: formatVersion(await journalOf(type).oldest()),
    }
  } finally {
    leave()
  }
}

function concealedIn({ showsSecrets }: HistoryParts, { lifecycle }: Kind): readonly string[] | undefined {
  return showsSecrets ? undefined : lifecycle.secretFields
}

function shownChange(change: JournaledChange, { lifecycle }: Kind, concealed: readonly string[] | undefined) {
  const { revision, time, note, deleted, object } = change
  return {
    revision: formatVersion(revision),
    ...(time === undefined ? { beyond: true } : { time: new Date(time).toISOString() }),
    ...(note && { user: note.user, manager: note.manager, verb: note.verb, subresource: note.subresource }),
    // An expired object was removed by the store itself, so no request is recorded for its deletion.
    ...(note === undefined && deleted && lifecycle.expires ? { verb: 'expire' } : {}),
    ...(note?.created ? { created: true } : {}),
    ...(object?.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
    ...(deleted ? { deleted: true } : {}),
    changes: concealed === undefined ? (change.changes ?? []).map(shown) : withoutValues(change, concealed),
  }
}

function shown({ path, before, after }: JsonChange) {
  return {
    path: pathText(path),
    steps: [...path],
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  }
}

/**
 * Returns the changes without confidential values. For a confidential field, only the paths that the writer recorded
 * are returned.
 */
function withoutValues({ note, changes = [] }: JournaledChange, concealed: readonly string[]) {
  const isSecret = ({ path: [first] }: JsonChange) =>
    first === undefined || ('member' in first && concealed.includes(first.member))
  return [
    ...(note?.places ?? []).map(concealedPlace),
    ...changes.filter((each) => !isSecret(each) && !mayQuote(each)).map((each) => shown(withoutQuotes(each))),
  ]
}

/** Parses a recorded path. The path consists of a field and a key in this field, separated by the first dot. */
function concealedPlace(place: string) {
  const dot = place.indexOf('.')
  const steps = [{ member: place.slice(0, dot) }, { member: place.slice(dot + 1) }]
  return { path: pathText(steps), steps, concealed: true }
}

/** Removes annotations from the old and new values of a change. */
function withoutQuotes({ path, before, after }: JsonChange): JsonChange {
  const drop = (value: Json | undefined): Json | undefined => {
    if (!isObject(value)) return value
    const { annotations: _, ...rest } = value
    return rest
  }
  return { path, before: drop(before), after: drop(after) }
}

/**
 * Returns whether a change is within the annotations, which may quote confidential fields. For example, kubectl stores
 * the applied configuration there.
 */
function mayQuote({ path }: JsonChange): boolean {
  return path.some((step) => 'member' in step && step.member === 'annotations')
}
