/**
 * `orchctl get`: what is asked for is read from the words, fetched in that order, and printed as tables or documents.
 * One that fails does not hold up the others; what went wrong is printed at the end.
 */
import { UsageError } from '../../../base/flags.ts'
import { discover } from '../../../client/discovery.ts'
import { defineCommand } from '../../command.ts'
import { withConnection } from '../../connect.ts'
import { findTargets, readWanted, type Target, type Wanted } from '../../targets.ts'
import { type GetOptions, type Getting, getFlags } from './getting.ts'
import { getObjects } from './objects.ts'
import { getTables } from './tables.ts'
import { watchTarget } from './watch.ts'

export const getCommand = defineCommand({
  name: 'get',
  forms: ['TYPE[,TYPE...] [NAME...] [flags]', 'TYPE/NAME... [flags]'],
  about: `Shows objects: all of one type or several, or those that are named.

A type is named by its plural, its kind or a short name, in any case, if need be with its group:
configmaps, ConfigMap, cm, leases.coordination.orch.io. \`orchctl api-resources\` lists them.`,
  examples: [
    'orchctl get namespaces',
    'orchctl get configmaps,secrets -A -l app=web',
    'orchctl get cm greeting -o yaml',
    'orchctl get cm/greeting ns/default',
    'orchctl get cm -w',
  ],
  flags: getFlags,
  run: async (context, { options, words }) => {
    const wanted = readWanted(words)
    checkTogether(wanted, options)
    await withConnection(context, options, async ({ client, namespace }) => {
      const targets = findTargets(await discover(client, context), wanted)
      checkScopes(targets, options)
      await show({ context, options, client, namespace }, targets)
    })
  },
})

async function show(getting: Getting, targets: readonly Target[]): Promise<void> {
  const { watch, output } = getting.options
  if (watch) await watchTarget(getting, targets)
  else if (output === '' || output === 'wide') await getTables(getting, targets)
  else await getObjects(getting, targets, output)
}

function checkTogether(wanted: readonly Wanted[], { selector, fieldSelector }: GetOptions): void {
  const named = wanted.some(({ name }) => name !== undefined)
  if (named && (selector !== '' || fieldSelector !== ''))
    throw new UsageError('name cannot be provided when a selector is specified')
}

function checkScopes(targets: readonly Target[], { allNamespaces }: GetOptions): void {
  if (allNamespaces && targets.some(({ type, name }) => type.namespaced && name !== undefined))
    throw new UsageError('a resource cannot be retrieved by name across all namespaces')
}
