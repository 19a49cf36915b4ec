/** Lists the `orchctl config` subcommands. */
import type { CommandEntry } from '../entry.ts'

export const configCommands: readonly CommandEntry[] = [
  {
    name: 'view',
    summary: 'show the kubeconfig',
    load: async () => (await import('./view.ts')).viewCommand,
  },
  {
    name: 'current-context',
    summary: 'print the current context',
    load: async () => (await import('./current-context.ts')).currentContextCommand,
  },
  {
    name: 'get-contexts',
    summary: 'list the contexts in the kubeconfig',
    load: async () => (await import('./get-contexts.ts')).getContextsCommand,
  },
  {
    name: 'use-context',
    summary: 'select the context that commands use by default',
    load: async () => (await import('./use-context.ts')).useContextCommand,
  },
  {
    name: 'set-context',
    summary: 'create or change a kubeconfig context',
    load: async () => (await import('./set-context.ts')).setContextCommand,
  },
  {
    name: 'set-cluster',
    summary: 'create or change a kubeconfig cluster',
    load: async () => (await import('./set-cluster.ts')).setClusterCommand,
  },
  {
    name: 'set-credentials',
    summary: 'create or change a kubeconfig user',
    load: async () => (await import('./set-credentials.ts')).setCredentialsCommand,
  },
  {
    name: 'get-clusters',
    summary: 'list the clusters in the kubeconfig',
    load: async () => (await import('./names.ts')).getClustersCommand,
  },
  {
    name: 'get-users',
    summary: 'list the users in the kubeconfig',
    load: async () => (await import('./names.ts')).getUsersCommand,
  },
  {
    name: 'rename-context',
    summary: 'rename a kubeconfig context',
    load: async () => (await import('./rename-context.ts')).renameContextCommand,
  },
  {
    name: 'delete-context',
    summary: 'delete a context from the kubeconfig',
    load: async () => (await import('./delete-entry.ts')).deleteContextCommand,
  },
  {
    name: 'delete-cluster',
    summary: 'delete a cluster from the kubeconfig',
    load: async () => (await import('./delete-entry.ts')).deleteClusterCommand,
  },
  {
    name: 'delete-user',
    summary: 'delete a user from the kubeconfig',
    load: async () => (await import('./delete-entry.ts')).deleteUserCommand,
  },
  {
    name: 'set',
    summary: 'set a value in the kubeconfig',
    load: async () => (await import('./property.ts')).setPropertyCommand,
  },
  {
    name: 'unset',
    summary: 'remove a value from the kubeconfig',
    load: async () => (await import('./property.ts')).unsetPropertyCommand,
  },
]
