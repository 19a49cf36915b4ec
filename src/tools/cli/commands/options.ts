/** Implements `orchctl options`, which shows the global flags. */
import { helpText } from '../../../base/flags/flag-help.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

export const optionsCommand = defineCommand({
  name: 'options',
  forms: [''],
  about: 'Show the flags that all commands accept. These flags can also precede the command name.',
  examples: ['orchctl options'],
  flags: connectionFlags,
  run: async (context, { words }) => {
    refuseWords(words)
    context.out(`Flags for all commands:\n${helpText(connectionFlags)}\n`)
  },
})
