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
  {
    name: 'get-clusters',
    summary: 'show the names of all clusters',
    load: async () => (await import('./names.ts')).getClustersCommand,
  },
  {
    name: 'get-users',
    summary: 'show the names of all users',
    load: async () => (await import('./names.ts')).getUsersCommand,
  },
  {
    name: 'rename-context',
    summary: 'give a context another name',
    load: async () => (await import('./rename-context.ts')).renameContextCommand,
  },
  {
    name: 'delete-context',
    summary: 'delete a context',
    load: async () => (await import('./delete-entry.ts')).deleteContextCommand,
  },
  {
    name: 'delete-cluster',
    summary: 'delete a cluster',
    load: async () => (await import('./delete-entry.ts')).deleteClusterCommand,
  },
  {
    name: 'delete-user',
    summary: 'delete a user',
    load: async () => (await import('./delete-entry.ts')).deleteUserCommand,
  },
  {
    name: 'set',
    summary: 'set one value',
    load: async () => (await import('./property.ts')).setPropertyCommand,
  },
  {
    name: 'unset',
    summary: 'remove one value',
    load: async () => (await import('./property.ts')).unsetPropertyCommand,
  },
]
