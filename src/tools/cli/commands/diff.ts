/**
 * Implements `orchctl diff`, which shows the changes that `apply` would make. The command computes them with a
 * server-side dry run and shows them with `diff` or with the program in $KUBECTL_EXTERNAL_DIFF. It masks the values of
 * Secrets. Like diff, it exits with 0 if there are no differences and with 1 if there are any.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject, type JsonObject, own } from '../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { flag, type OptionsOf, refusedFlag, text, toggle, UsageError } from '../../../base/flags/flags.ts'
import { codeOf } from '../../../base/text/errors.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { fileFlags, type Subject, subjectsOf } from '../arguments/subjects.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { singularName } from '../connection/find-type.ts'
import { objectNameIn, type Session, withSession } from '../connection/session.ts'
import { chosenManifests, type Manifest, readManifests } from '../manifests/manifest.ts'
import { ManifestError } from '../manifests/manifest-error.ts'
import { hasColours } from '../printers/colours.ts'
import { printDocument, withoutManagedFields } from '../printers/objects.ts'
import { type Context, defineCommand, ExitCode, Failure } from '../program/command.ts'
import { applyFlags } from './apply/options.ts'

const flags = {
  ...fileFlags,
  serverSide: applyFlags.serverSide,
  forceConflicts: applyFlags.forceConflicts,
  fieldManager: applyFlags.fieldManager,
  validate: applyFlags.validate,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for objects in the files',
  }),
  showManagedFields: toggle({ name: 'show-managed-fields', help: 'include managed fields' }),
  prune: refusedFlag('prune', 'not implemented: `orchctl apply --prune --dry-run=server` lists what would be deleted'),
  pruneAllowlist: refusedFlag('prune-allowlist', 'not implemented: see --prune', { value: 'GROUP/VERSION/KIND' }),
  at: flag({
    name: 'at',
    value: 'REVISION|TIME|AGE',
    read: text,
    help: 'compare the named object with its past state at a revision, a time or an age such as 90m',
  }),
  ...connectionFlags,
}

type Options = OptionsOf<typeof flags>

export const diffCommand = defineCommand({
  name: 'diff',
  forms: ['-f FILE [flags]', '(TYPE NAME | TYPE/NAME) --at=REVISION [flags]'],
  about: `Show what \`orchctl apply\` would change. With --at, show how an object has changed since a past revision or time. Nothing
is modified.

The exit code is 0 if there are no differences, 1 if there are differences, and greater than 1 if an error occurs.
To use a program other than \`diff -u -N\`, set $KUBECTL_EXTERNAL_DIFF to the command with its arguments.`,
  examples: [
    'orchctl diff -f manifests/',
    'orchctl diff -f pod.yaml --server-side',
    'orchctl diff deployment/web --at=1h',
    "KUBECTL_EXTERNAL_DIFF='diff -y' orchctl diff -f pod.yaml",
  ],
  flags,
  run: async (context, { options, words }) => {
    const compared = options.at === '' ? diffFiles(context, options, words) : diffAt(context, options, words)
    await compared.catch((error: unknown) => {
      throw error instanceof ExitCode ? error : new Failure(failed, error)
    })
  },
})

/** Exit code for errors, because 1 means that there are differences. */
const failed = 2

async function diffFiles(context: Context, options: Options, words: readonly string[]): Promise<void> {
  if (words.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(words[0])}: specify files with -f`)
  if (options.filename.length === 0) throw new UsageError('no files specified: use -f to specify the files to compare')
  const manifests = await chosenManifests(await readManifests(context, options), options.selector)
  await withSession(context, options, async (session) => {
    const subjects = await subjectsOf(session, manifests)
    const pairs = []
    for (const subject of subjects) pairs.push(await compareOne(session, subject, options))
    await show(
      context,
      pairs.filter((pair) => pair !== undefined),
    )
  })
}

/** Implements `--at`: compares an object at an earlier revision or time with its current state. */
async function diffAt(context: Context, options: Options, words: readonly string[]): Promise<void> {
  if (options.filename.length > 0)
    throw new UsageError('--at requires the name of an object and cannot be used with files')
  await withSession(context, options, async (session) => {
    const { pastSubject, stateAt } = await import('../connection/object-history.ts')
    const subject = await pastSubject(session, words)
    const { type, name } = subject
    const [then] = await stateAt(session, subject, options.at)
    const now = await session.client.get(type, objectNameIn(session, type, name), context)
    const [live, merged] = await Promise.all(
      [then, now].map((object) => printDocument(shownOf(object, options)!, 'yaml')),
    )
    if (live !== merged) await show(context, [{ file: `${type.plural}.${name}`, live: live!, merged: merged! }])
  })
}

interface Pair {
  readonly file: string
  readonly live: string
  readonly merged: string
}

async function compareOne(session: Session, subject: Subject & Manifest, options: Options): Promise<Pair | undefined> {
  const { type, name, origin } = subject
  const live = await session.client.get(type, name, { signal: session.context.signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  const { object: merged } = await dryRun(session, subject, options).catch((error: unknown) => {
    throw new ManifestError({ origin, doing: 'comparing', subject: `${singularName(type)}/${name.name}` }, error)
  })
  const sides = [live, merged].map((object) => shownOf(object, options))
  const texts = await Promise.all(
    (type.kind === 'Secret' ? masked(sides[0], sides[1]) : sides).map((side) =>
      side === undefined ? '' : printDocument(side, 'yaml'),
    ),
  )
  const file = [type.group, type.version, type.kind, name.namespace ?? '', name.name]
    .filter((part) => part !== '')
    .join('.')
    // Names come from files and must not cause writes outside the directory.
    .replaceAll(/[^\w.-]/g, '_')
  return texts[0] === texts[1] ? undefined : { file, live: texts[0]!, merged: texts[1]! }
}

async function dryRun(session: Session, subject: Subject & Manifest, options: Options): Promise<{ object: ApiObject }> {
  const applying = {
    ...options,
    dryRun: 'server',
    prune: false,
    force: false,
    all: false,
    selector: '',
    output: { form: '' },
    template: '',
    allowMissingTemplateKeys: true,
    record: false,
    pruneAllowlist: [],
    pruneWhitelist: [],
    applySet: undefined,
    cascade: 'background',
    gracePeriod: -1,
    wait: true,
    timeout: 0,
    overwrite: true,
    openapiPatch: undefined,
  } as const
  if (options.serverSide)
    return await (await import('./apply/server-side.ts')).serverSideApply(session, subject, applying)
  // The last-applied annotation does not count as a difference between an object and its file.
  const { clientSideApply: applyHere } = await import('./apply/client-side.ts')
  return await applyHere(session, subject, { ...applying, recorded: false })
}

function shownOf(object: ApiObject | undefined, { showManagedFields }: Options): JsonObject | undefined {
  if (object === undefined) return undefined
  return asJson(showManagedFields ? object : withoutManagedFields(object))
}

/** Masks the values of a Secret, but still shows whether two values differ. */
function masked(...sides: readonly (JsonObject | undefined)[]): (JsonObject | undefined)[] {
  const data = sides.map((side) => {
    const secretData = side === undefined ? undefined : own(side, 'data')
    return isObject(secretData) ? secretData : {}
  })
  return sides.map((side, i) => {
    if (side === undefined || !isObject(own(side, 'data'))) return side
    const other = data[1 - i]!
    const marks = Object.entries(data[i]!).map(([key, value]) => [
      key,
      value === own(other, key) ? '***' : i === 0 ? '*** (before)' : '*** (after)',
    ])
    return { ...withoutRecords(side), data: Object.fromEntries(marks) }
  })
}

/** Masks the last-applied annotation, because it contains a copy of the Secret's values. */
function withoutRecords(secret: JsonObject): JsonObject {
  const metadata = own(secret, 'metadata')
  const annotations = isObject(metadata) ? own(metadata, 'annotations') : undefined
  if (!isObject(metadata) || !isObject(annotations)) return secret
  const maskedAnnotations = Object.entries(annotations).map(([key, value]) => [
    key,
    key.endsWith('/last-applied-configuration') ? '***' : value,
  ])
  return { ...secret, metadata: { ...metadata, annotations: Object.fromEntries(maskedAnnotations) } }
}

/** Enables colors if the output is a terminal and the installed diff supports them. */
async function usualDiff(context: Context): Promise<string> {
  if (!hasColours(context, 'out')) return 'diff -u -N'
  const { spawnSync } = await import('node:child_process')
  const { stdout } = spawnSync('diff', ['--version'], { encoding: 'utf8' })
  return stdout?.includes('GNU') ? 'diff -u -N --color=always' : 'diff -u -N'
}

/** Writes both sides to directories that only this user can read, and runs the diff program on these directories. */
async function show(context: Context, pairs: readonly Pair[]): Promise<void> {
  if (pairs.length === 0) return
  const directory = mkdtempSync(join(tmpdir(), 'orchctl-diff-'))
  try {
    for (const side of ['live', 'merged'] as const) {
      mkdirSync(join(directory, side), { mode: 0o700 })
      for (const pair of pairs) writeFileSync(join(directory, side, pair.file), pair[side], { mode: 0o600 })
    }
    const [program = 'diff', ...args] = (context.env.KUBECTL_EXTERNAL_DIFF || (await usualDiff(context))).split(/\s+/)
    const code = await context
      .runProgram(program, [...args, join(directory, 'live'), join(directory, 'merged')])
      .catch((error: unknown) => {
        throw new UsageError(
          `cannot run ${program}: ${codeOf(error)}; set $KUBECTL_EXTERNAL_DIFF to use another program`,
        )
      })
    if (code !== 0) throw new ExitCode(code)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
