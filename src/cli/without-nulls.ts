/**
 * Objects without nulls, for code that reads kinds as their types say: no member of a list and no field is null there,
 * but a server may send one (`containers: [null]`). kubectl reads such a member as an empty one; here it is left out.
 * Whatever prints objects as they are does not come here.
 */
import type { ContentForm } from '../client/content-form.ts'
import { parseJson } from '../client/json.ts'
import { isObject } from '../model/json.ts'
import type { Session } from './session.ts'

/** The same value less all nulls in it. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.filter((member) => member !== null).map(withoutNulls) as T
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)])) as T
}

const jsonWithoutNulls: ContentForm = {
  mediaType: 'application/json',
  write: () => undefined,
  read: (bytes) => withoutNulls(parseJson(Buffer.from(bytes).toString('utf8'))),
  readEvents: () => {
    throw new Error('a watch shows objects as they are')
  },
}

/** A session whose client reads all objects so. It does not watch. */
export function sessionWithoutNulls(session: Session): Session {
  return { ...session, client: session.client.withForm(jsonWithoutNulls) }
}
