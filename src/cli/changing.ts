/**
 * The common way of commands that change objects which are there (label, annotate, patch, scale): finds them, makes one
 * patch for each, sends it, and says what was done.
 */
import type { OptionsOf } from '../base/flags.ts'
import type { Patch } from '../client/client.ts'
import type { ApiObject } from '../model/object.ts'
import { inBulk } from './bulk.ts'
import { withNearNames } from './near-names.ts'
import type { Session } from './session.ts'
import { findSubjects, type Subject, type SubjectOptions } from './subjects.ts'
import { report, requestOptions, type writeFlags } from './writing.ts'

export interface Change {
  /** Undefined: there is nothing to change. */
  readonly patch: Patch | undefined
  /** What was done, if it was: `labeled`. */
  readonly done: string
  /** What it is with the change, for a dry run on the client's side. */
  readonly next: ApiObject
}

/** Throws when any of them fails, after the others. */
export async function changeSubjects(
  session: Session,
  words: readonly string[],
  {
    options,
    changeOf,
    unchanged,
  }: {
    readonly options: SubjectOptions & OptionsOf<typeof writeFlags>
    readonly changeOf: (live: ApiObject, subject: Subject) => Change | Promise<Change>
    /** What is said of an object that is as wanted already; undefined: nothing. */
    readonly unchanged: string | undefined
  },
): Promise<void> {
  const subjects = await findSubjects(session, words, options)
  if (subjects.length === 0) return session.context.err('No resources found\n')
  await inBulk(session.context, subjects, {
    sortOf: ({ type }) => type,
    done: 'changed',
    act: async (subject, index) => {
      const live = await liveOf(session, subject)
      const { patch, done, next } = await changeOf(live, subject)
      const { type, name } = subject
      if (patch === undefined && unchanged === undefined) return ''
      if (patch === undefined) return await report(options, { type, object: live, done: unchanged ?? done, index })
      if (options.dryRun === 'client') return await report(options, { type, object: next, done, index })
      const object = await session.client.patch(type, name, { ...requestOptions(session, options), patch })
      return await report(options, { type, object, done, index })
    },
  })
}

/** The object as the server has it now. */
export async function liveOf(session: Session, { type, name, object, origin }: Subject): Promise<ApiObject> {
  // What was listed is what the server had a moment ago.
  if (object !== undefined && origin === undefined) return object
  try {
    return await session.client.get(type, name, { signal: session.context.signal })
  } catch (error) {
    throw await withNearNames(session, { type, name: name.name, namespace: name.namespace }, error)
  }
}
