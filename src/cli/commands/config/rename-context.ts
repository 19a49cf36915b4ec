/** `orchctl config rename-context` */
import { UsageError } from '../../../base/flags.ts'
import { renameContext } from '../../../client/node/kubeconfig-edit.ts'
import { defineCommand } from '../../command.ts'
import { configFiles } from '../../connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { configFlags } from './config-files.ts'

export const renameContextCommand = defineCommand({
  name: 'config rename-context',
  forms: ['CONTEXT NEW_NAME [flags]'],
  about: 'Gives a context another name. If it is the one in use, it stays so.',
  examples: ['orchctl config rename-context orch-admin@orch local'],
  flags: { kubeconfig: configFlags.kubeconfig },
  run: async (context, { options, words }) => {
    const [from, to, ...more] = words
    if (from === undefined || !to || more.length > 0) throw new UsageError('name the context and its new name')
    await renameContext(configFiles(context, options.kubeconfig), from, to)
    context.out(`Context "${escapeLine(from)}" renamed to "${escapeLine(to)}".\n`)
  },
})
