/**
 * Plugins: programs `orchctl-NAME` and `kubectl-NAME` on the PATH, which are called where the first words are no command of
 * ours. `orchctl a b` finds `orchctl-a-b` before `orchctl-a`; a dash in a word is an underscore in the name of a program.
 */
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Context } from './command.ts'

const prefixes = ['orchctl-', 'kubectl-']

export interface Plugin {
  readonly file: string
  /** How it is called: `a b` for `orchctl-a-b`. */
  readonly words: readonly string[]
}

/** The plugin that these arguments call, with the arguments that are left for it. */
export function findPlugin(
  context: Context,
  args: readonly string[],
): { readonly file: string; readonly rest: readonly string[] } | undefined {
  const end = args.findIndex((arg) => arg.startsWith('-'))
  const words = args.slice(0, end < 0 ? args.length : end)
  for (let count = words.length; count > 0; count--) {
    const name = words
      .slice(0, count)
      .map((word) => word.replaceAll('-', '_'))
      .join('-')
    if (!/^[\w.-]+$/.test(name)) continue
    for (const prefix of prefixes)
      for (const directory of directoriesOf(context)) {
        const file = join(directory, prefix + name)
        if (isProgram(file)) return { file, rest: args.slice(count) }
      }
  }
  return undefined
}

/** All that are on the PATH, in its order. */
export function allPlugins(context: Context): Plugin[] {
  return directoriesOf(context).flatMap((directory) =>
    namesIn(directory).flatMap((name) => {
      const prefix = prefixes.find((start) => name.startsWith(start))
      const file = join(directory, name)
      if (prefix === undefined || !isProgram(file)) return []
      return [
        {
          file,
          words: name
            .slice(prefix.length)
            .split('-')
            .map((word) => word.replaceAll('_', '-')),
        },
      ]
    }),
  )
}

function directoriesOf({ env }: Context): string[] {
  return [...new Set((env.PATH ?? '').split(delimiter).filter((directory) => directory !== ''))]
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    // Not every directory of a PATH is there.
    return []
  }
}

function isProgram(file: string): boolean {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
