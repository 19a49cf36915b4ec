/** `orchctl config set-context`: sets fields of a context in the kubeconfig. */
import { flag, ifGiven, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags, readConfig } from './config-files.ts'
import { setConfigEntry } from './set-entry.ts'

const flags = {
  current: toggle({ name: 'current', help: 'change the current context' }),
  cluster: ifGiven(flag({ name: 'cluster', value: 'NAME', read: text, help: 'cluster of the context' })),
  user: ifGiven(flag({ name: 'user', value: 'NAME', read: text, help: 'user of the context' })),
  namespace: ifGiven(
    flag({ name: 'namespace', letter: 'n', value: 'NAME', read: text, help: 'default namespace of the context' }),
  ),
  kubeconfig: configFlags.kubeconfig,
}

export const setContextCommand = defineCommand({
  name: 'config set-context',
  forms: ['(CONTEXT | --current) [flags]'],
  about:
    'Set the cluster, user or namespace of a context. Create the context if it does not exist.\nA flag with an empty value removes the setting.',
  examples: [
    'orchctl config set-context --current --namespace=shop',
    'orchctl config set-context test --cluster=test --user=me',
  ],
  flags,
  run: async (context, { options, words }) => {
    const { current, kubeconfig, ...fields } = options
    if (current === words.length > 0) throw new UsageError('specify one context, or --current')
    const name = current ? (await readConfig(context, { kubeconfig, context: '' })).current : words[0]
    if (name === undefined) throw new UsageError('the kubeconfig has no current context')
    await setConfigEntry(context, {
      sort: 'context',
      title: 'Context',
      kubeconfig,
      words: current ? [name] : words,
      fields,
    })
  },
})
