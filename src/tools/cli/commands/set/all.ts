/** Commands below `orchctl set`. */
import type { CommandEntry } from '../entry.ts'

export const setCommands: readonly CommandEntry[] = [
  {
    name: 'image',
    summary: 'set the images of containers',
    load: async () => (await import('./image.ts')).setImageCommand,
  },
  {
    name: 'env',
    summary: 'set or show the environment of containers',
    load: async () => (await import('./env.ts')).setEnvCommand,
  },
  {
    name: 'resources',
    summary: 'set what containers need and may have',
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
    summary: 'set which pods a service is for',
    load: async () => (await import('./selector.ts')).setSelectorCommand,
  },
  {
    name: 'subject',
    summary: 'add users, groups and service accounts to a binding',
    load: async () => (await import('./subject.ts')).setSubjectCommand,
  },
]
