/** `orchctl config get-contexts`: lists the contexts in the kubeconfig. */
import { flag, type OptionsOf, oneOf, toggle, UsageError } from '../../../../base/flags/flags.ts'
import type { ConfigContexts } from '../../../../client/node/kubeconfig.ts'
import { Columns } from '../../printers/columns.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags, readConfig } from './config-files.ts'

const flags = {
  output: flag({
    name: 'output',
    letter: 'o',
    value: 'FORMAT',
    read: oneOf(['', 'name']),
    help: 'output format: name, which prints only the names',
  }),
  noHeaders: toggle({ name: 'no-headers', help: 'omit the header line' }),
  ...configFlags,
}

export const getContextsCommand = defineCommand({
  name: 'config get-contexts',
  forms: ['[CONTEXT...] [flags]'],
  about:
    'List all contexts in the kubeconfig, or only the named contexts, with their cluster, user and namespace. A star marks the current context.',
  examples: ['orchctl config get-contexts', 'orchctl config get-contexts -o name'],
  flags,
  run: async (context, { options, words }) => {
    const all = await readConfig(context, options)
    const missing = words.find((word) => !all.contexts.some(({ name }) => name === word))
    if (missing !== undefined) throw new UsageError(`context ${missing} not found`)
    const contexts = all.contexts.filter(({ name }) => words.length === 0 || words.includes(name))
    const config = { ...all, contexts }
    const names = contexts.map(({ name }) => `${escapeLine(name)}\n`).join('')
    context.out(options.output === 'name' ? names : table(config, options))
  },
})

const headings = ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE']

function table({ current, contexts }: ConfigContexts, { noHeaders }: OptionsOf<typeof flags>): string {
  const rows = contexts.map(({ name, cluster, user, namespace }) => [
    name === current ? '*' : '',
    ...[name, cluster, user, namespace].map(escapeLine),
  ])
  return new Columns().lines([...(noHeaders ? [] : [headings]), ...rows])
}
