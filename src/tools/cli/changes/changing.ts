/**
 * The common way of commands that change objects which are there (label, annotate, patch, scale): finds them, makes one
 * patch for each, sends it, and says what was done.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import type { Patch } from '../../../client/requests/client.ts'
import { findSubjects, type Subject, type SubjectOptions } from '../arguments/subjects.ts'
import { withNearNames } from '../connection/near-names.ts'
import type { Session } from '../connection/session.ts'
import type { Context } from '../program/command.ts'
import { bySubject, inBulk } from './bulk.ts'
import { type NoteOptions, noteCause } from './kept-notes.ts'
import { report, requestOptions, type writeFlags } from './writing.ts'

export const localFlag = toggle({
  name: 'local',
  help: 'change what the file says and print it; no server is asked for the object',
})
export const resourceVersionFlag = flag({
  name: 'resource-version',
  value: 'VERSION',
  read: text,
  help: 'only if the object still has this version: for one object by name',
})

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
    readonly options: SubjectOptions &
      OptionsOf<typeof writeFlags> &
      NoteOptions & { readonly resourceVersion?: string }
    readonly changeOf: (live: ApiObject, subject: Subject) => Change | Promise<Change>
    /** What is said of an object that is as wanted already; undefined: nothing. */
    readonly unchanged: string | undefined
  },
): Promise<void> {
  const subjects = await findSubjects(session, words, options)
  if (subjects.length === 0) return session.context.err('No resources found\n')
  if (options.resourceVersion && subjects.length > 1)
    throw new UsageError('--resource-version is for one object, and these are several')
  await inBulk(session.context, subjects, {
    ...bySubject,
    done: 'changed',
    act: async (subject, index) => {
      const live = await liveOf(session, subject)
      const { patch: change, done, next } = await changeOf(live, subject)
      // Whether it still has that version is for the server to say, also where nothing else changes.
      const patch = change ?? (options.resourceVersion ? { merge: {} } : undefined)
      const { type, name } = subject
      if (patch === undefined && unchanged === undefined) return ''
      if (patch === undefined) return await report(options, { type, object: live, done: unchanged ?? done, index })
      if (options.dryRun === 'client') return await report(options, { type, object: next, done, index })
      const object = await session.client.patch(type, name, {
        ...requestOptions(session, options),
        patch: options.resourceVersion ? atVersion(patch, options.resourceVersion) : patch,
      })
      await noteCause(session, subject, options)
      return await report(options, { type, object, done, index })
    },
  })
}

/** The patch, for this version alone. */
function atVersion(patch: Patch, resourceVersion: string): Patch {
  if ('json' in patch)
    return { json: [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }, ...patch.json] }
  const versioned = (body: object) => {
    const { metadata } = body as { readonly metadata?: object }
    return { ...body, metadata: { ...metadata, resourceVersion } }
  }
  if ('merge' in patch) return { merge: versioned(patch.merge) }
  return 'strategic' in patch ? { strategic: versioned(patch.strategic) } : { ...patch, apply: versioned(patch.apply) }
}

/** `--local`: changes what files say, and prints it. */
export async function changeLocally(
  context: Context,
  options: LocalOptions,
  { change, done }: { readonly change: (object: ApiObject) => ApiObject | Promise<ApiObject>; readonly done: string },
): Promise<void> {
  if (options.filename.length === 0) throw new UsageError('--local needs a file: -f FILE')
  const { readManifests } = await import('../manifests/manifest.ts')
  for (const [index, { object }] of (await readManifests(context, options)).entries()) {
    const type = { kind: object.kind, group: groupOf(object.apiVersion) }
    const shown = { type, object: await change(object), done, index }
    context.out(await report({ ...options, dryRun: 'client' }, shown))
  }
}

type LocalOptions = OptionsOf<typeof writeFlags> & Pick<SubjectOptions, 'filename' | 'recursive'>

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
