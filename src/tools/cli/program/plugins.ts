/**
 * Runs plugins: programs named `orchctl-NAME` or `kubectl-NAME` on the PATH. They run if the first words are not a
 * built-in command. For `orchctl a b`, the program `orchctl-a-b` takes precedence over `orchctl-a`. A dash in a word
 * becomes an underscore in the program name.
 */
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Context } from './command.ts'

const prefixes = ['orchctl-', 'kubectl-']

export interface Plugin {
  readonly file: string
  /** The words after `orchctl` that run the plugin, such as `a b` for `orchctl-a-b`. */
  readonly words: readonly string[]
}

/** Returns the plugin for these arguments, and the arguments to pass to the plugin. */
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

/** Returns the plugins in all directories on the PATH, in PATH order. */
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
    // Ignore directories on the PATH that do not exist.
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
