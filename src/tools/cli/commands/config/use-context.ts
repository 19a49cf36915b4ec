/** `orchctl config use-context`: sets the current context in the kubeconfig. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { setCurrentContext } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags } from './config-files.ts'

export const useContextCommand = defineCommand({
  name: 'config use-context',
  forms: ['CONTEXT [flags]'],
  about: 'Set the current context, which commands use by default.',
  examples: ['orchctl config use-context orch-admin@orch'],
  flags: { kubeconfig: configFlags.kubeconfig },
  run: async (context, { options, words }) => {
    const [name, ...more] = words
    if (name === undefined || more.length > 0)
      throw new UsageError('specify one context: `orchctl config get-contexts` lists them')
    await setCurrentContext(configFiles(context, options.kubeconfig), name)
    context.out(`Switched to context "${escapeLine(name)}".\n`)
  },
})
