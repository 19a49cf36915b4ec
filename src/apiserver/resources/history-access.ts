/**
 * Authorizes access to the history of objects. The history of an existing object requires `get` on that object. The
 * history of a deleted object requires `get` on the whole type in its namespace, because a rule for its name may now be
 * intended for a different object.
 */
import { forbiddenError, notFound } from '../../api/model/api-error.ts'
import { shownName, type User } from '../../api/model/user.ts'
import { keyOf, type Resource, waitForCaches } from '../registry/catalogue/resource.ts'
import { storedTypes, VisibleTypes, type VisibleTypesParts } from './visible-types.ts'

/** The object or type whose history is requested. An empty name selects all objects of the type. */
export interface HistorySubject {
  readonly group?: string | undefined
  readonly resource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/**
 * Whether the caller may see the history of all objects that ever had the name, or only the history of the existing
 * object.
 */
export interface HistoryAccess {
  readonly type: Resource
  readonly sees: 'all' | 'present'
}

/**
 * Decides how much of the history the caller may see. Throws 404 if the type is not served, and 403 if the caller may
 * see nothing.
 */
export async function historyAccess(
  parts: VisibleTypesParts,
  { group = '', resource = '', namespace = '', name = '' }: HistorySubject,
  user: User,
): Promise<HistoryAccess> {
  const type = storedTypes(parts).find((each) => each.group === group && each.plural === resource)
  if (type === undefined) throw notFound({ group, plural: resource }, name)
  const visible = new VisibleTypes(parts, user)
  const verb = name === '' ? 'list' : 'get'
  if (await visible.may(type, { verb, namespace, name: '' })) return { type, sees: 'all' }
  await waitForCaches(type)
  const isThere = name !== '' && type.cache.get(keyOf(type, namespace, name)) !== undefined
  if (isThere && (await visible.may(type, { verb, namespace, name }))) return { type, sees: 'present' }
  throw forbiddenError(type, name, `user ${JSON.stringify(shownName(user))} may not ${verb} ${resource} in the past`)
}
