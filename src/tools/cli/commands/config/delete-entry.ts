/** `orchctl config delete-context`, `delete-cluster` and `delete-user`: remove an entry from the kubeconfig. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { type EntrySort, removeEntry } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Command, defineCommand } from '../../program/command.ts'
import { configFlags, readConfig } from './config-files.ts'

function defineDelete(sort: EntrySort): Command {
  return defineCommand({
    name: `config delete-${sort}`,
    forms: ['NAME [flags]'],
    about: `Delete a ${sort} from the kubeconfig.`,
    examples: [`orchctl config delete-${sort} test`],
    flags: { kubeconfig: configFlags.kubeconfig },
    run: async (context, { options, words }) => {
      const [name, ...more] = words
      if (name === undefined || more.length > 0) throw new UsageError(`specify one ${sort} to delete`)
      const files = configFiles(context, options.kubeconfig)
      const { current } = await readConfig(context, { kubeconfig: options.kubeconfig, context: '' })
      const file = await removeEntry(files, { sort, name })
      if (file === undefined) throw new UsageError(`cannot delete ${sort} ${name}, not in ${files.join(', ')}`)
      if (sort === 'context' && current === name)
        context.err(
          'warning: this removed your active context, use "orchctl config use-context" to select a different one\n',
        )
      context.out(`deleted ${sort} ${escapeLine(name)} from ${file}\n`)
    },
  })
}

export const deleteContextCommand = defineDelete('context')
export const deleteClusterCommand = defineDelete('cluster')
export const deleteUserCommand = defineDelete('user')
