/**
 * The list of commands. Each is loaded when it is called: what the others need costs nothing. A command is one file
 * here, or a folder where that would be long; commands that belong together have a name in common, as those of
 * `orchctl config` do.
 */
import type { Command } from '../command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Commands below one word: `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly summary: string
  readonly commands: readonly CommandEntry[]
}

export const commands: readonly (CommandEntry | CommandGroup)[] = [
  { name: 'get', summary: 'show objects', load: async () => (await import('./get/get.ts')).getCommand },
  {
    name: 'api-resources',
    summary: 'show which types of objects the server has',
    load: async () => (await import('./api-resources.ts')).apiResourcesCommand,
  },
  {
    name: 'config',
    summary: 'show what the client config says',
    commands: [
      {
        name: 'current-context',
        summary: 'show the name of the context in use',
        load: async () => (await import('./config/current-context.ts')).currentContextCommand,
      },
      {
        name: 'get-contexts',
        summary: 'show all contexts, and which one is in use',
        load: async () => (await import('./config/get-contexts.ts')).getContextsCommand,
      },
    ],
  },
  {
    name: 'version',
    summary: 'show the versions of this program and of the server',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
