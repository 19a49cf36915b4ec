/**
 * Removes nulls from objects before typed code uses them. The TypeScript types allow no null fields or list elements,
 * but a server may send them (`containers: [null]`). kubectl treats a null element as an empty one, whereas this code
 * removes it. Commands that print objects as received keep the nulls.
 */

import { isObject } from '../../../api/json/json.ts'
import { parseJson } from '../../../api/json/portable-json.ts'
import type { OptionsOf } from '../../../base/flags/flags.ts'
import type { ContentForm } from '../../../client/requests/content-form.ts'
import { lines, maxLineBytes, type RawEvent } from '../../../client/requests/watch.ts'
import type { connectionFlags } from '../connection/connection-flags.ts'
import { type Session, withSession } from '../connection/session.ts'
import type { Context } from '../program/command.ts'

/** Returns the value without null members and list elements. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.filter((member) => member !== null).map(withoutNulls) as T
  if (!isObject(value)) return value
  const nonNullMembers = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(nonNullMembers.map(([key, member]) => [key, withoutNulls(member)])) as T
}

const jsonWithoutNulls: ContentForm = {
  mediaType: 'application/json',
  write: () => undefined,
  read: (bytes) => withoutNulls(parseJson(Buffer.from(bytes).toString('utf8'))),
  readEvents: async function* (chunks) {
    for await (const line of lines(chunks, maxLineBytes)) yield withoutNulls(parseJson(line) as RawEvent<unknown>)
  },
}

/** Returns a session whose client removes nulls from all objects. */
export function sessionWithoutNulls(session: Session): Session {
  return { ...session, client: session.client.withForm(jsonWithoutNulls) }
}

/**
 * Runs a command with a session that removes nulls from objects, so that the TypeScript types of kinds are accurate.
 */
export async function withTypedSession<T>(
  context: Context,
  options: OptionsOf<typeof connectionFlags>,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  return await withSession(context, options, (session) => use(sessionWithoutNulls(session)))
}
