/**
 * Implements commands that patch existing objects (label, annotate, patch, scale): find the objects, patch each of
 * them, and report the result.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import type { Patch } from '../../../client/requests/client.ts'
import { findSubjects, type Subject, type SubjectOptions } from '../arguments/subjects.ts'
import type { Session } from '../connection/session.ts'
import { withNameSuggestion } from '../connection/suggest-name.ts'
import type { Context } from '../program/command.ts'
import { bySubject, inBulk } from './bulk.ts'
import { type NoteOptions, noteCause } from './change-cause.ts'
import { report, requestOptions, type writeFlags } from './report-write.ts'

export const localFlag = toggle({
  name: 'local',
  help: 'patch the object in the file and print the result, without contacting a server',
})
export const resourceVersionFlag = flag({
  name: 'resource-version',
  value: 'VERSION',
  read: text,
  help: 'expected resourceVersion of the object; the command fails if the actual version differs; valid only for a single named object',
})

export interface Change {
  /** The patch to send. Undefined if the object needs no change. */
  readonly patch: Patch | undefined
  /** Past participle of the operation, such as `labeled`, for the report line. */
  readonly done: string
  /** The object after the change, for a client-side dry run. */
  readonly next: ApiObject
}

/** Changes the objects. If a change fails, processes the other objects before throwing the error. */
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
    /** Text to print for an object that needs no change, or undefined to print nothing. */
    readonly unchanged: string | undefined
  },
): Promise<void> {
  const subjects = await findSubjects(session, words, options)
  if (subjects.length === 0) return session.context.err('No resources found\n')
  if (options.resourceVersion && subjects.length > 1)
    throw new UsageError('--resource-version can only be used with a single object')
  await inBulk(session.context, subjects, {
    ...bySubject,
    done: 'changed',
    act: async (subject, index) => {
      const live = await liveOf(session, subject)
      const { patch: change, done, next } = await changeOf(live, subject)
      // With --resource-version and no other change, send an empty patch, so that the server still checks the version.
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

/** Returns the patch with a resourceVersion as a precondition. */
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

/** Implements `--local`: changes the objects in files without a server and prints the result. */
export async function changeLocally(
  context: Context,
  options: LocalOptions,
  { change, done }: { readonly change: (object: ApiObject) => ApiObject | Promise<ApiObject>; readonly done: string },
): Promise<void> {
  if (options.filename.length === 0) throw new UsageError('--local requires a file: -f FILE')
  const { readManifests } = await import('../manifests/manifest.ts')
  for (const [index, { object }] of (await readManifests(context, options)).entries()) {
    const type = { kind: object.kind, group: groupOf(object.apiVersion) }
    const changedObject = { type, object: await change(object), done, index }
    context.out(await report({ ...options, dryRun: 'client' }, changedObject))
  }
}

type LocalOptions = OptionsOf<typeof writeFlags> & Pick<SubjectOptions, 'filename' | 'recursive'>

/** Returns the object in its current state on the server. */
export async function liveOf(session: Session, { type, name, object, origin }: Subject): Promise<ApiObject> {
  // An object from a list request is recent enough, so it is not read again.
  if (object !== undefined && origin === undefined) return object
  try {
    return await session.client.get(type, name, { signal: session.context.signal })
  } catch (error) {
    throw await withNameSuggestion(session, { type, name: name.name, namespace: name.namespace }, error)
  }
}
