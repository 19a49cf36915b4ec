/** Lists the `orchctl set` subcommands. */
import type { CommandEntry } from '../entry.ts'

export const setCommands: readonly CommandEntry[] = [
  {
    name: 'image',
    summary: 'set container images',
    load: async () => (await import('./image.ts')).setImageCommand,
  },
  {
    name: 'env',
    summary: 'set or list environment variables of containers',
    load: async () => (await import('./env.ts')).setEnvCommand,
  },
  {
    name: 'resources',
    summary: 'set resource requests and limits of containers',
    load: async () => (await import('./resources.ts')).setResourcesCommand,
  },
  {
    name: 'serviceaccount',
    aliases: ['sa'],
    summary: 'set the service account of pods',
    load: async () => (await import('./serviceaccount.ts')).setServiceAccountCommand,
  },
  {
    name: 'selector',
    summary: 'set the selector of a service',
    load: async () => (await import('./selector.ts')).setSelectorCommand,
  },
  {
    name: 'subject',
    summary: 'add users, groups and service accounts to a binding',
    load: async () => (await import('./subject.ts')).setSubjectCommand,
  },
]
