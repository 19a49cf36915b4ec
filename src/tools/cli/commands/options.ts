/** `orchctl options`: the flags that all commands have. */
import { helpText } from '../../../base/flags/flag-help.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { defineCommand, refuseWords } from '../program/command.ts'

export const optionsCommand = defineCommand({
  name: 'options',
  forms: [''],
  about: 'Shows the flags that all commands have. They may stand before the name of the command too.',
  examples: ['orchctl options'],
  flags: connectionFlags,
  run: async (context, { words }) => {
    refuseWords(words)
    context.out(`Flags of all commands:\n${helpText(connectionFlags)}\n`)
  },
})
