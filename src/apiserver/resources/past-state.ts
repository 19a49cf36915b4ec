/** Returns objects at an earlier revision or time, from the journal of the store (`paststates`). */
import { type PastState, pastState as stateKind } from '../../api/kinds/ops/past-state.ts'
import { badRequest, forbiddenError, notFound } from '../../api/model/api-error.ts'
import { asJson } from '../../api/model/object.ts'
import { formatVersion, parseVersion } from '../../api/model/resource-version.ts'
import type { User } from '../../api/model/user.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { journalExpired, journalOf, lastDeletion, readObjectsAt } from '../registry/reads/object-journal.ts'
import { historyAccess } from './history-access.ts'
import type { HistoryParts } from './object-history.ts'

const maxItems = 500

export function pastState(parts: HistoryParts): Endpoint {
  return {
    kind: stateKind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Returns objects as of an earlier revision or time.',
    answer: async ({ object, user }) => {
      const { spec = {} } = object as PastState
      return { ...object!, status: await answer(parts, spec, user) }
    },
  }
}

type Spec = NonNullable<PastState['spec']>

async function answer(parts: HistoryParts, spec: Spec, user: User) {
  const { namespace = '', name = '', limit = 0, continue: after = '' } = spec
  const { type, sees } = await historyAccess(parts, spec, user)
  if (type.kind.lifecycle.secretFields !== undefined && !parts.showsSecrets)
    throw forbiddenError(
      type,
      name,
      'the history does not contain their values: start the server with --history-secret-values',
    )
  const leave = type.historyReaders.enter(user.name)
  try {
    const revision = await revisionOf(type, spec)
    // A caller who may only read the existing object must not see an earlier object with the same name.
    if (sees === 'present' && revision < (await lastDeletion(type, { namespace, name }))) throw notFound(type, name)
    if (after !== '' && !after.startsWith(type.cache.prefix))
      throw badRequest('spec.continue is invalid: use the value that the server returned')
    const { items, next } = await readObjectsAt(type, {
      namespace,
      name,
      revision,
      limit: Math.min(limit > 0 ? limit : maxItems, maxItems),
      after: after === '' ? undefined : after,
    })
    if (name !== '' && items.length === 0) throw notFound(type, name)
    return { revision: formatVersion(revision), items: items.map(asJson), ...(next && { continue: next }) }
  } finally {
    leave()
  }
}

async function revisionOf(type: Resource, { revision = '', time = '' }: Spec): Promise<number> {
  if ((revision === '') === (time === '')) throw badRequest('either spec.revision or spec.time is required')
  const journal = journalOf(type)
  if (revision !== '') return parseVersion(revision)
  const ms = Date.parse(time)
  if (Number.isNaN(ms)) throw badRequest(`spec.time: ${JSON.stringify(time.slice(0, 50))} is not a valid time`)
  const revisionAtTime = await journal.revisionAt(ms)
  if (revisionAtTime === undefined) throw journalExpired(time, await journal.oldest())
  return revisionAtTime
}
