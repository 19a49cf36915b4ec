/** `orchctl config current-context`: prints the name of the current context. */
import { UsageError } from '../../../../base/flags/flags.ts'
import { escapeLine } from '../../printers/escape.ts'
import { defineCommand, refuseWords } from '../../program/command.ts'
import { configFlags, readConfig } from './config-files.ts'

export const currentContextCommand = defineCommand({
  name: 'config current-context',
  forms: ['[flags]'],
  about: 'Print the name of the current context.',
  examples: ['orchctl config current-context'],
  flags: configFlags,
  run: async (context, { options, words }) => {
    refuseWords(words)
    const { current } = await readConfig(context, options)
    if (current === undefined) throw new UsageError('the kubeconfig has no current context: specify one with --context')
    context.out(`${escapeLine(current)}\n`)
  },
})
