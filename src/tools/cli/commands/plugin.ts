/** Implements `orchctl plugin list`, which lists the plugins on the PATH and warns about shadowed plugins. */

import { basename } from 'node:path'
import { toggle, UsageError } from '../../../base/flags/flags.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { escapeLine } from '../printers/escape.ts'
import { type Command, defineCommand, ExitCode, refuseWords } from '../program/command.ts'
import { allPlugins } from '../program/plugins.ts'

/** Creates the command. `own` lists the built-in commands, which shadow plugins of the same name. */
export function pluginListCommand(own: readonly string[]): Command {
  return defineCommand({
    name: 'plugin list',
    forms: ['[flags]'],
    about: `List plugins: programs on the PATH named orchctl-NAME or kubectl-NAME. To run a plugin, use \`orchctl NAME\`.

A plugin cannot replace a built-in command.`,
    examples: ['orchctl plugin list'],
    flags: { nameOnly: toggle({ name: 'name-only', help: 'print only the program names' }), ...connectionFlags },
    run: async (context, { options, words }) => {
      refuseWords(words)
      const plugins = allPlugins(context)
      if (plugins.length === 0) throw new UsageError('unable to find any orchctl or kubectl plugins in your PATH')
      const pluginNames = new Set<string>()
      let warnings = 0
      const warn = (text: string) => {
        warnings++
        context.err(`  - warning: ${escapeLine(text)}\n`)
      }
      context.out('The following compatible plugins are available:\n\n')
      for (const { file, words } of plugins) {
        context.out(`${escapeLine(options.nameOnly ? basename(file) : file)}\n`)
        const name = words.join(' ')
        if (own.includes(words[0]!)) warn(`${file} is never called: ${words[0]} is a built-in command`)
        else if (pluginNames.has(name))
          warn(`${file} is never called: a plugin with the same name comes first on the PATH`)
        pluginNames.add(name)
      }
      if (warnings > 0) throw new ExitCode(1)
    },
  })
}
