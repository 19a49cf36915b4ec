/** The list of commands. Each is loaded when it is called: what the others need costs nothing. */
import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

export const commands: readonly CommandEntry[] = [
  { name: 'get', summary: 'show objects', load: async () => (await import('./get.ts')).getCommand },
  {
    name: 'api-resources',
    summary: 'show which types of objects the server has',
    load: async () => (await import('./api-resources.ts')).apiResourcesCommand,
  },
  {
    name: 'version',
    summary: 'show the versions of this program and of the server',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
