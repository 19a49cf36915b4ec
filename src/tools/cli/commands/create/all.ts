/** Lists the `orchctl create` subcommands. */
import type { CommandEntry, CommandGroup } from '../entry.ts'

export const createCommands: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'namespace',
    aliases: ['ns'],
    summary: 'create a namespace',
    load: async () => (await import('./namespace.ts')).createNamespaceCommand,
  },
  {
    name: 'configmap',
    aliases: ['cm'],
    summary: 'create a ConfigMap from literals and files',
    load: async () => (await import('./configmap.ts')).createConfigMapCommand,
  },
  {
    name: 'secret',
    summary: 'create a Secret',
    commands: [
      {
        name: 'generic',
        summary: 'create a Secret from literals and files',
        load: async () => (await import('./secret.ts')).createSecretGenericCommand,
      },
      {
        name: 'tls',
        summary: 'create a Secret with a certificate and its key',
        load: async () => (await import('./secret.ts')).createSecretTlsCommand,
      },
      {
        name: 'docker-registry',
        summary: 'create a Secret with registry credentials',
        load: async () => (await import('./secret.ts')).createSecretDockerRegistryCommand,
      },
    ],
  },
  {
    name: 'serviceaccount',
    aliases: ['sa'],
    summary: 'create a service account',
    load: async () => (await import('./serviceaccount.ts')).createServiceAccountCommand,
  },
  {
    name: 'token',
    summary: 'request a token for a service account',
    load: async () => (await import('./token.ts')).createTokenCommand,
  },
  {
    name: 'role',
    summary: 'create a role',
    load: async () => (await import('./role.ts')).createRoleCommand,
  },
  {
    name: 'rolebinding',
    summary: 'bind a role to users, groups and service accounts',
    load: async () => (await import('./binding.ts')).createRoleBindingCommand,
  },
  {
    name: 'clusterrole',
    summary: 'create a cluster role',
    load: async () => (await import('./role.ts')).createClusterRoleCommand,
  },
  {
    name: 'clusterrolebinding',
    summary: 'bind a cluster role to users, groups and service accounts',
    load: async () => (await import('./binding.ts')).createClusterRoleBindingCommand,
  },
  {
    name: 'deployment',
    aliases: ['deploy'],
    summary: 'create a deployment',
    load: async () => (await import('./workload.ts')).createDeploymentCommand,
  },
  {
    name: 'job',
    summary: 'create a job',
    load: async () => (await import('./workload.ts')).createJobCommand,
  },
  {
    name: 'cronjob',
    aliases: ['cj'],
    summary: 'create a cron job',
    load: async () => (await import('./workload.ts')).createCronJobCommand,
  },
  {
    name: 'quota',
    aliases: ['resourcequota'],
    summary: 'create a resource quota',
    load: async () => (await import('./policies.ts')).createQuotaCommand,
  },
  {
    name: 'priorityclass',
    aliases: ['pc'],
    summary: 'create a priority class',
    load: async () => (await import('./policies.ts')).createPriorityClassCommand,
  },
  {
    name: 'poddisruptionbudget',
    aliases: ['pdb'],
    summary: 'create a pod disruption budget',
    load: async () => (await import('./policies.ts')).createPodDisruptionBudgetCommand,
  },
  {
    name: 'ingress',
    aliases: ['ing'],
    summary: 'create an ingress',
    load: async () => (await import('./policies.ts')).createIngressCommand,
  },
  {
    name: 'service',
    aliases: ['svc'],
    summary: 'create a service',
    commands: [
      {
        name: 'clusterip',
        summary: 'create a ClusterIP service',
        load: async () => (await import('./service.ts')).createClusterIpCommand,
      },
      {
        name: 'nodeport',
        summary: 'create a NodePort service',
        load: async () => (await import('./service.ts')).createNodePortCommand,
      },
      {
        name: 'loadbalancer',
        summary: 'create a LoadBalancer service',
        load: async () => (await import('./service.ts')).createLoadBalancerCommand,
      },
      {
        name: 'externalname',
        summary: 'create an ExternalName service',
        load: async () => (await import('./service.ts')).createExternalNameCommand,
      },
    ],
  },
]
