/** Implements `orchctl replace -f`, which replaces whole objects with the contents of files. */

import type { ApiObject } from '../../../api/model/object.ts'
import { flag, type OptionsOf, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import type { UpdateOptions } from '../../../client/requests/client.ts'
import { isInvalid, type StatusError } from '../../../client/requests/status-error.ts'
import { fileFlags, type Subject, subjectsOf } from '../arguments/subjects.ts'
import { bySubject, inBulk } from '../changes/bulk.ts'
import { saveConfigFlag, withNotes } from '../changes/change-cause.ts'
import { deletionFlags } from '../changes/deletion.ts'
import { recreate } from '../changes/recreate.ts'
import { fieldValidation, report, requestOptions, validateFlag, writeFlags } from '../changes/report-write.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { callRaw, rawFlag } from '../connection/raw.ts'
import { type Session, withSession } from '../connection/session.ts'
import { type Manifest, readManifests } from '../manifests/manifest.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { defineCommand } from '../program/command.ts'

const flags = {
  ...fileFlags,
  ...writeFlags,
  validate: validateFlag,
  force: toggle({ name: 'force', help: 'delete and recreate objects, to change immutable fields' }),
  ...deletionFlags,
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'subresource to replace, such as status or scale',
  }),
  raw: rawFlag,
  saveConfig: saveConfigFlag,
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const replaceCommand = defineCommand({
  name: 'replace',
  forms: ['-f FILE [flags]'],
  about: `Replace whole objects with the contents of files. Fields that a file does not contain are removed.

If a file contains a resourceVersion, only that version is replaced. To keep fields that others have set, use
\`orchctl apply\`.`,
  examples: [
    'orchctl replace -f pod.yaml',
    'orchctl get cm greeting -o yaml | sed s/world/all/ | orchctl replace -f -',
  ],
  flags,
  run: async (context, { options, words }) => {
    if (options.raw !== '') return await callRaw(context, options, { method: 'PUT', words, files: options })
    if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: specify files with -f`)
    if (options.filename.length === 0)
      throw new UsageError('no files specified: use -f to specify the files with the new objects')
    if (!options.force && options.gracePeriod >= 0) throw new UsageError('--grace-period must have --force specified')
    if (!options.force && options.timeout > 0) throw new UsageError('--timeout must have --force specified')
    if (options.force && options.subresource !== '')
      throw new UsageError('--force and --subresource are mutually exclusive: a subresource cannot be recreated')
    if (options.force && options.dryRun !== 'none')
      throw new UsageError(
        '--force and --dry-run are mutually exclusive: the creation would fail because the object still exists',
      )
    const manifests = await readManifests(context, options)
    if (manifests.length === 0) throw new UsageError('no objects passed to replace')
    await withSession(context, options, async (session) => {
      await inBulk(context, await subjectsOf(session, manifests), {
        ...bySubject,
        done: 'replaced',
        act: (subject, index) => replaceOne(session, subject, { options, index }),
      })
    })
  },
})

async function replaceOne(
  session: Session,
  subject: Subject & Manifest,
  { options, index }: { options: Options; index: number },
): Promise<string> {
  const { type, origin, name } = subject
  try {
    if (name.name === '') throw new UsageError(`${origin.name}: metadata.name is missing`)
    const object = await withNotes(session, subject.object, options)
    if (options.dryRun === 'client') return await report(options, { type, object, done: 'replaced', index })
    const part = options.subresource === '' ? {} : { subresource: options.subresource }
    const request = { ...requestOptions(session, options), ...part, fieldValidation: fieldValidation(options.validate) }
    const replaced: ApiObject = options.force
      ? await recreate(session, subject, { object, request, deletion: options })
      : await replaceVersion(session, { ...subject, object }, request)
    return await report(options, { type, object: replaced, done: 'replaced', index })
  } catch (error) {
    throw new ManifestError({ origin, doing: 'replacing', subject: `${singularName(type)}/${name.name}` }, error)
  }
}

/**
 * Replaces an object. If the file contains no resourceVersion, any version is replaced. If the kind requires a version,
 * the object is read first, so that a concurrent change causes a conflict.
 */
async function replaceVersion(
  { client, context }: Session,
  { type, object, name }: Subject & Manifest,
  request: UpdateOptions,
): Promise<ApiObject> {
  try {
    return await client.update(type, object, request)
  } catch (error) {
    const lacksVersion = isInvalid(error) && /metadata\.resourceVersion/.test((error as StatusError).message)
    if (!lacksVersion || object.metadata.resourceVersion) throw error
    const { metadata } = await client.get(type, name, { signal: context.signal })
    const resourceVersion = metadata.resourceVersion ?? ''
    return await client.update(type, { ...object, metadata: { ...object.metadata, resourceVersion } }, request)
  }
}
