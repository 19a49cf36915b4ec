/** `orchctl config get-clusters` and `get-users`: list the names of clusters and users in the kubeconfig. */
import { sortUtf8 } from '../../../../base/collections/utf8-order.ts'
import { type EntrySort, readConfigFile } from '../../../../client/node/kubeconfig-edit.ts'
import { configFiles } from '../../connection/connect.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Command, defineCommand, refuseWords } from '../../program/command.ts'
import { configFlags } from './config-files.ts'
import { entryNames } from './view.ts'

function defineNames(sort: EntrySort): Command {
  return defineCommand({
    name: `config get-${sort}s`,
    forms: ['[flags]'],
    about: `List the names of all ${sort}s in the kubeconfig.`,
    examples: [`orchctl config get-${sort}s`],
    flags: { kubeconfig: configFlags.kubeconfig },
    run: async (context, { options, words }) => {
      refuseWords(words)
      const names = configFiles(context, options.kubeconfig).flatMap((file) => entryNames(readConfigFile(file), sort))
      context.out(['NAME', ...sortUtf8([...new Set(names)])].map((name) => `${escapeLine(name)}\n`).join(''))
    },
  })
}

export const getClustersCommand = defineNames('cluster')
export const getUsersCommand = defineNames('user')
