/**
 * Implements `orchctl get`: parses the requested types and names, fetches them in order, and prints tables or
 * documents. If a request fails, the results of the other requests are still printed, and the errors follow at the end.
 */
import { UsageError } from '../../../../base/flags/flags.ts'
import { findTargets, readTargetWords, type Target, type TargetWord } from '../../arguments/targets.ts'
import { withSession } from '../../connection/session.ts'
import { defineCommand } from '../../program/command.ts'
import { type GetOptions, type Getting, getFlags } from './get-flags.ts'
import { getObjects } from './objects.ts'
import { getTables } from './tables.ts'

export const getCommand = defineCommand({
  name: 'get',
  forms: ['TYPE[,TYPE...] [NAME...] [flags]', 'TYPE/NAME... [flags]', '-f FILE [flags]', '--raw PATH'],
  about: `List objects: all objects of one or more types, or only the named objects.

A type is a plural, kind or short name in any case, optionally with its group: configmaps, ConfigMap, cm,
leases.coordination.orch.io. \`orchctl api-resources\` lists the types. \`all\` selects the most common types.`,
  examples: [
    'orchctl get namespaces',
    'orchctl get configmaps,secrets -A -l app=web',
    'orchctl get cm greeting -o yaml',
    'orchctl get cm/greeting ns/default',
    'orchctl get cm -w',
    'orchctl get cm --at=90m',
    'orchctl get cm greeting --at=2026-11-16T12:00:00Z -o yaml',
    'orchctl get pods -A --fields=metadata.name,spec.nodeName --server-sort=spec.nodeName -o json',
    'orchctl get cm -o jsonpath=\'{range .items[*]}{.metadata.name}{"\\n"}{end}\'',
    'orchctl get cm -o custom-columns=NAME:.metadata.name,MADE:.metadata.creationTimestamp --sort-by=.metadata.name',
  ],
  flags: getFlags,
  run: async (context, { options, words }) => {
    if (options.raw !== '') {
      const { callRaw } = await import('../../connection/raw.ts')
      return await callRaw(context, options, { method: 'GET', words })
    }
    const targetWords = options.filename.length > 0 ? [] : readTargetWords(words)
    checkTogether(targetWords, options)
    if (options.at !== '') (await import('./get-at-revision.ts')).checkPast(options)
    await withSession(context, options, async (session) => {
      const targets =
        options.filename.length > 0
          ? await fileTargets({ ...session, options }, words)
          : await findTargets(session.types, targetWords)
      checkScopes(targets, options)
      await show({ ...session, options }, targets)
    })
  },
})

async function fileTargets(getting: Getting, words: readonly string[]): Promise<Target[]> {
  const { findSubjects } = await import('../../arguments/subjects.ts')
  const subjects = await findSubjects(getting, words, { ...getting.options, all: false })
  return subjects.map(({ type, name }) => ({ type, name: name.name, namespace: name.namespace }))
}

async function show(getting: Getting, targets: readonly Target[]): Promise<void> {
  const { watch, watchOnly, output, count } = getting.options
  if (count) return await (await import('./count.ts')).countTargets(getting, targets)
  if (watch || watchOnly) await (await import('./watch.ts')).watchTarget(getting, targets)
  else if (output.form !== '' && output.form !== 'wide') await getObjects(getting, targets, output)
  else if (getting.options.at !== '') await (await import('./get-at-revision.ts')).showPast(getting, targets)
  else await getTables(getting, targets)
}

function checkTogether(targetWords: readonly TargetWord[], options: GetOptions): void {
  const { selector, fieldSelector, subresource, watch, watchOnly, outputWatchEvents } = options
  const hasName = targetWords.some(({ name }) => name !== undefined)
  if (hasName && (selector !== '' || fieldSelector !== ''))
    throw new UsageError('name cannot be provided when a selector is specified')
  if (subresource !== '' && (!hasName || watch || watchOnly))
    throw new UsageError('--subresource requires the name of an object and cannot be watched')
  if (options.count && (hasName || watch || watchOnly || options.output.form !== ''))
    throw new UsageError('--count cannot be combined with names or output options')
  checkListFlags({ ...options, hasName })
  if (outputWatchEvents && !watch && !watchOnly)
    throw new UsageError('--output-watch-events option can only be used with --watch or --watch-only')
}

/** Checks `--fields` and `--server-sort`, which are supported only for lists and only by an orch server. */
function checkListFlags(options: GetOptions & { readonly hasName: boolean }): void {
  const { hasName, fields, serverSort, watch, watchOnly, at, output } = options
  if (fields === '' && serverSort === '') return
  if (hasName || watch || watchOnly || at !== '' || options.filename.length > 0)
    throw new UsageError('--fields and --server-sort only apply to lists: omit names, -f, --watch and --at')
  if (serverSort !== '' && options.sortBy !== '')
    throw new UsageError('--server-sort cannot be combined with --sort-by')
  if (fields !== '' && (output.form === '' || output.form === 'wide' || output.form === 'name'))
    throw new UsageError('--fields requires an output format for objects, such as -o yaml')
}

function checkScopes(targets: readonly Target[], { allNamespaces }: GetOptions): void {
  if (
    allNamespaces &&
    targets.some(({ type, name, namespace }) => type.namespaced && name !== undefined && namespace === undefined)
  )
    throw new UsageError('a resource cannot be retrieved by name across all namespaces')
}
