/** Implements `orchctl patch`, which sends a user-written patch in JSON or YAML. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isObject, type Json, sameJson } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { asJson } from '../../../api/model/object.ts'
import { flag, type OptionsOf, oneOf, text, UsageError } from '../../../base/flags/flags.ts'
import { codeOf } from '../../../base/text/errors.ts'
import type { Patch } from '../../../client/requests/client.ts'
import { findSubjects, type Subject, subjectFlags } from '../arguments/subjects.ts'
import { bySubject, inBulk } from '../changes/bulk.ts'
import { noteCause, recordFlag } from '../changes/change-cause.ts'
import { changeLocally, liveOf, localFlag } from '../changes/patch-command.ts'
import { report, requestOptions, writeFlags } from '../changes/report-write.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { type Session, withSession } from '../connection/session.ts'
import { applyPatchLocally } from '../patches/apply-locally.ts'
import { type Context, defineCommand } from '../program/command.ts'

const flags = {
  filename: subjectFlags.filename,
  recursive: subjectFlags.recursive,
  kustomize: subjectFlags.kustomize,
  local: localFlag,
  record: recordFlag,
  patch: flag({ name: 'patch', letter: 'p', value: 'PATCH', read: text, help: 'patch to apply, in JSON or YAML' }),
  patchFile: flag({ name: 'patch-file', value: 'FILE', read: text, help: 'file that contains the patch' }),
  type: flag({
    name: 'type',
    value: 'strategic|merge|json',
    default: 'strategic',
    read: oneOf(['strategic', 'merge', 'json']),
    help: 'patch type: json, merge or strategic',
  }),
  subresource: flag({
    name: 'subresource',
    value: 'NAME',
    read: text,
    help: 'subresource to patch, such as status or scale',
  }),
  ...writeFlags,
  ...connectionFlags,
}

export const patchCommand = defineCommand({
  name: 'patch',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE) -p PATCH [flags]'],
  about: `Update fields of an object with a patch.

A strategic patch merges lists whose elements have a merge key. A merge patch replaces lists. A JSON patch is a list of
operations. Custom resources support only merge and JSON patches.`,
  examples: [
    `orchctl patch configmap greeting -p '{"data":{"hello":"all"}}'`,
    `orchctl patch deployment web --type=json -p '[{"op":"replace","path":"/spec/replicas","value":3}]'`,
    'orchctl patch -f pod.yaml --patch-file=patch.yaml --dry-run=server -o yaml',
  ],
  flags,
  run: async (context, { options, words }) => {
    const patch = await readPatch(context, options)
    if (options.local)
      return await changeLocally(context, options, {
        change: (object) => applyPatchLocally(object, patch),
        done: 'patched',
      })
    await withSession(context, options, async (session) => {
      const none = { selector: '', fieldSelector: '', all: false, allNamespaces: false }
      const subjects = await findSubjects(session, words, { ...options, ...none })
      await inBulk(context, subjects, {
        ...bySubject,
        done: 'patched',
        act: (subject, index) => patchOne(session, subject, { patch, options, index }),
      })
    })
  },
})

async function readPatch(context: Context, { patch, patchFile, type }: OptionsOf<typeof flags>): Promise<Patch> {
  if ((patch === '') === (patchFile === '')) throw new UsageError('no patch specified: use -p or --patch-file')
  const source = patch === '' ? readPatchFile(context, patchFile) : patch
  const value = await parsePatch(source)
  if (type === 'json') {
    if (!Array.isArray(value) || !value.every(isObject))
      throw new UsageError('a JSON patch must be a list of operations: [{"op": ...}]')
    return { json: value }
  }
  if (!isObject(value)) throw new UsageError('the patch must be an object such as {"spec": ...}')
  return type === 'merge' ? { merge: value } : { strategic: value }
}

function readPatchFile({ directory }: Context, file: string): string {
  try {
    return readFileSync(resolve(directory, file), 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${codeOf(error)}`)
  }
}

const maxBytes = 16 * 1024 * 1024

async function parsePatch(source: string): Promise<Json> {
  const { parseYaml } = await import('../../../api/codec/yaml.ts')
  try {
    return parseYaml(Buffer.from(source), maxBytes).value
  } catch (error) {
    if (error instanceof ApiError)
      throw new UsageError(`unable to parse the patch: ${error.message.replace('the body', 'it')}`)
    throw error
  }
}

interface Patching {
  readonly patch: Patch
  readonly options: OptionsOf<typeof flags>
  readonly index: number
}

async function patchOne(session: Session, subject: Subject, { patch, options, index }: Patching): Promise<string> {
  const { type, name } = subject
  const { origin: _, object: __, ...place } = subject
  const live = await liveOf(session, place)
  if (options.dryRun === 'client') {
    const patched = await applyPatchLocally(live, patch)
    const done = sameJson(asJson(patched), asJson(live)) ? 'patched (no change)' : 'patched'
    return await report(options, { type, object: patched, done, index })
  }
  const subresource = options.subresource === '' ? {} : { subresource: options.subresource }
  const object = await session.client.patch(type, name, { ...requestOptions(session, options), ...subresource, patch })
  await noteCause(session, subject, options)
  // With a subresource, compare resource versions, because the response may have another kind. Otherwise compare the
  // objects, because the version stays the same if the patch removes the last finalizer and thereby deletes the object.
  const changed =
    options.dryRun === 'none' && options.subresource !== ''
      ? object.metadata.resourceVersion !== live.metadata.resourceVersion
      : !sameJson(asJson(object), asJson(live))
  return await report(options, { type, object, done: changed ? 'patched' : 'patched (no change)', index })
}
