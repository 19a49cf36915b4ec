/** Commands below `orchctl config`. */
import type { CommandEntry } from '../entry.ts'

export const configCommands: readonly CommandEntry[] = [
  {
    name: 'view',
    summary: 'show the client config',
    load: async () => (await import('./view.ts')).viewCommand,
  },
  {
    name: 'current-context',
    summary: 'show the name of the context in use',
    load: async () => (await import('./current-context.ts')).currentContextCommand,
  },
  {
    name: 'get-contexts',
    summary: 'show all contexts, and which one is in use',
    load: async () => (await import('./get-contexts.ts')).getContextsCommand,
  },
  {
    name: 'use-context',
    summary: 'make a context the one in use',
    load: async () => (await import('./use-context.ts')).useContextCommand,
  },
  {
    name: 'set-context',
    summary: 'set what a context says',
    load: async () => (await import('./set-context.ts')).setContextCommand,
  },
  {
    name: 'set-cluster',
    summary: 'set where a cluster is',
    load: async () => (await import('./set-cluster.ts')).setClusterCommand,
  },
  {
    name: 'set-credentials',
    summary: 'set how a user shows who it is',
    load: async () => (await import('./set-credentials.ts')).setCredentialsCommand,
  },
]
