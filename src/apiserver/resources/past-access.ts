/**
 * Who may see the past of objects: whoever may see them now. Of an object that is there that is `get` of it; of one that
 * is gone, `get` of its whole type in that namespace, since no rule that names the object can mean it any more.
 */
import { forbiddenError, notFound } from '../../api/model/api-error.ts'
import { shownName, type User } from '../../api/model/user.ts'
import { keyOf, type Resource, waitForCaches } from '../registry/catalogue/resource.ts'
import { storedTypes, VisibleTypes, type VisibleTypesParts } from './visible-types.ts'

/** What is asked about. */
export interface PastSubject {
  readonly group?: string | undefined
  readonly resource?: string | undefined
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** What the caller may see of it: all incarnations of the name, or the one that is there. */
export interface PastAccess {
  readonly type: Resource
  readonly sees: 'all' | 'present'
}

/** Throws 404 for a type that is not served and 403 where the caller may not read. */
export async function pastAccess(
  parts: VisibleTypesParts,
  { group = '', resource = '', namespace = '', name = '' }: PastSubject,
  user: User,
): Promise<PastAccess> {
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
