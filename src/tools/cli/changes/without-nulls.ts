/**
 * Objects without nulls, for code that reads kinds as their types say: no member of a list and no field is null there,
 * but a server may send one (`containers: [null]`). kubectl reads such a member as an empty one; here it is left out.
 * Whatever prints objects as they are does not come here.
 */

import { isObject } from '../../../api/json/json.ts'
import { parseJson } from '../../../api/json/portable-json.ts'
import type { OptionsOf } from '../../../base/flags/flags.ts'
import type { ContentForm } from '../../../client/requests/content-form.ts'
import { lines, maxLineBytes, type RawEvent } from '../../../client/requests/watch.ts'
import type { connectionFlags } from '../connection/connection-flags.ts'
import { type Session, withSession } from '../connection/session.ts'
import type { Context } from '../program/command.ts'

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
  readEvents: async function* (chunks) {
    for await (const line of lines(chunks, maxLineBytes)) yield withoutNulls(parseJson(line) as RawEvent<unknown>)
  },
}

/** A session whose client reads all objects so. */
export function sessionWithoutNulls(session: Session): Session {
  return { ...session, client: session.client.withForm(jsonWithoutNulls) }
}

/** A session for a command that reads objects as their types say. */
export async function withTypedSession<T>(
  context: Context,
  options: OptionsOf<typeof connectionFlags>,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  return await withSession(context, options, (session) => use(sessionWithoutNulls(session)))
}
