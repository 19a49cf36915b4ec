/** `orchctl config set-context` */
import { flag, ifGiven, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags, readConfig } from './config-files.ts'
import { setConfigEntry } from './set-entry.ts'

const flags = {
  current: toggle({ name: 'current', help: 'the context in use' }),
  cluster: ifGiven(flag({ name: 'cluster', value: 'NAME', read: text, help: 'the cluster to talk to' })),
  user: ifGiven(flag({ name: 'user', value: 'NAME', read: text, help: 'the user to be' })),
  namespace: ifGiven(
    flag({ name: 'namespace', letter: 'n', value: 'NAME', read: text, help: 'the namespace to look in' }),
  ),
  kubeconfig: configFlags.kubeconfig,
}

export const setContextCommand = defineCommand({
  name: 'config set-context',
  forms: ['(CONTEXT | --current) [flags]'],
  about:
    'Sets what a context says: which cluster, which user, which namespace. One that is not there is made;\na flag without a value takes away what was set.',
  examples: [
    'orchctl config set-context --current --namespace=shop',
    'orchctl config set-context test --cluster=test --user=me',
  ],
  flags,
  run: async (context, { options, words }) => {
    const { current, kubeconfig, ...fields } = options
    if (current === words.length > 0) throw new UsageError('name one context, or say --current')
    const name = current ? (await readConfig(context, { kubeconfig, context: '' })).current : words[0]
    if (name === undefined) throw new UsageError('the client config names no current context')
    await setConfigEntry(context, {
      sort: 'context',
      title: 'Context',
      kubeconfig,
      words: current ? [name] : words,
      fields,
    })
  },
})
