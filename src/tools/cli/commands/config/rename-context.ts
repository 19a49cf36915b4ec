/** `orchctl config rename-context`: renames a context in the kubeconfig. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { renameContext } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand } from '../../program/command.ts'
import { configFlags } from './config-files.ts'

export const renameContextCommand = defineCommand({
  name: 'config rename-context',
  forms: ['CONTEXT NEW_NAME [flags]'],
  about: 'Rename a context. If it is the current context, it stays current.',
  examples: ['orchctl config rename-context orch-admin@orch local'],
  flags: { kubeconfig: configFlags.kubeconfig },
  run: async (context, { options, words }) => {
    const [from, to, ...more] = words
    if (from === undefined || !to || more.length > 0) throw new UsageError('specify the context and its new name')
    await renameContext(configFiles(context, options.kubeconfig), from, to)
    context.out(`Context "${escapeLine(from)}" renamed to "${escapeLine(to)}".\n`)
  },
})
