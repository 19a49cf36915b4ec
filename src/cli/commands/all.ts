/**
 * The list of commands. Each is loaded when it is called: what the others need costs nothing. A command is one file
 * here, or a folder where that would be long; commands that belong together have a name in common, as those of
 * `orchctl config` do.
 */
import type { Command } from '../command.ts'

export interface CommandEntry {
  readonly name: string
  /** Other words for it. */
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Commands below one word: `orchctl config current-context`. */
export interface CommandGroup {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly summary: string
  readonly commands: readonly (CommandEntry | CommandGroup)[]
  /** What the word does by itself: `orchctl create -f`. */
  readonly load?: () => Promise<Command>
}

export const commands: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'get',
    summary: 'show objects',
    load: async () => (await import('./get/get.ts')).getCommand,
  },
  {
    name: 'describe',
    summary: 'show an object with all that belongs to it',
    load: async () => (await import('./describe/describe.ts')).describeCommand,
  },
  {
    name: 'apply',
    summary: 'make the server have what files say',
    load: async () => (await import('./apply/apply.ts')).applyCommand,
    commands: [
      {
        name: 'view-last-applied',
        summary: 'show what files said when they were last applied',
        load: async () => (await import('./apply/view-last-applied.ts')).viewLastAppliedCommand,
      },
      {
        name: 'set-last-applied',
        summary: 'record that files were applied, and change nothing else',
        load: async () => (await import('./apply/set-last-applied.ts')).setLastAppliedCommand,
      },
      {
        name: 'edit-last-applied',
        summary: 'change the record of what was last applied in an editor',
        load: async () => (await import('./apply/edit-last-applied.ts')).editLastAppliedCommand,
      },
    ],
  },
  {
    name: 'explain-admission',
    summary: 'show what admission controls and webhooks would make of files',
    load: async () => (await import('./explain-admission.ts')).explainAdmissionCommand,
  },
  {
    name: 'create',
    summary: 'create objects from files, or one that flags describe',
    load: async () => (await import('./create/create.ts')).createCommand,
    commands: [
      {
        name: 'namespace',
        aliases: ['ns'],
        summary: 'create a namespace',
        load: async () => (await import('./create/namespace.ts')).createNamespaceCommand,
      },
      {
        name: 'configmap',
        aliases: ['cm'],
        summary: 'create a ConfigMap from literals and files',
        load: async () => (await import('./create/configmap.ts')).createConfigMapCommand,
      },
      {
        name: 'secret',
        summary: 'create a Secret',
        commands: [
          {
            name: 'generic',
            summary: 'create a Secret from literals and files',
            load: async () => (await import('./create/secret.ts')).createSecretGenericCommand,
          },
          {
            name: 'tls',
            summary: 'create a Secret with a certificate and its key',
            load: async () => (await import('./create/secret.ts')).createSecretTlsCommand,
          },
          {
            name: 'docker-registry',
            summary: 'create a Secret with the login at a registry',
            load: async () => (await import('./create/secret.ts')).createSecretDockerRegistryCommand,
          },
        ],
      },
      {
        name: 'serviceaccount',
        aliases: ['sa'],
        summary: 'create a service account',
        load: async () => (await import('./create/serviceaccount.ts')).createServiceAccountCommand,
      },
      {
        name: 'token',
        summary: 'ask for a token of a service account',
        load: async () => (await import('./create/token.ts')).createTokenCommand,
      },
      {
        name: 'role',
        summary: 'create a role',
        load: async () => (await import('./create/role.ts')).createRoleCommand,
      },
      {
        name: 'rolebinding',
        summary: 'give a role to users, groups and service accounts',
        load: async () => (await import('./create/binding.ts')).createRoleBindingCommand,
      },
      {
        name: 'clusterrole',
        summary: 'create a cluster role',
        load: async () => (await import('./create/role.ts')).createClusterRoleCommand,
      },
      {
        name: 'clusterrolebinding',
        summary: 'give a cluster role to users, groups and service accounts',
        load: async () => (await import('./create/binding.ts')).createClusterRoleBindingCommand,
      },
      {
        name: 'deployment',
        aliases: ['deploy'],
        summary: 'create a deployment',
        load: async () => (await import('./create/workload.ts')).createDeploymentCommand,
      },
      {
        name: 'job',
        summary: 'create a job',
        load: async () => (await import('./create/workload.ts')).createJobCommand,
      },
      {
        name: 'cronjob',
        aliases: ['cj'],
        summary: 'create a cron job',
        load: async () => (await import('./create/workload.ts')).createCronJobCommand,
      },
      {
        name: 'quota',
        aliases: ['resourcequota'],
        summary: 'create a quota of a namespace',
        load: async () => (await import('./create/policies.ts')).createQuotaCommand,
      },
      {
        name: 'priorityclass',
        aliases: ['pc'],
        summary: 'create a priority class',
        load: async () => (await import('./create/policies.ts')).createPriorityClassCommand,
      },
      {
        name: 'poddisruptionbudget',
        aliases: ['pdb'],
        summary: 'create a budget of disruptions',
        load: async () => (await import('./create/policies.ts')).createPodDisruptionBudgetCommand,
      },
      {
        name: 'ingress',
        aliases: ['ing'],
        summary: 'create an ingress',
        load: async () => (await import('./create/policies.ts')).createIngressCommand,
      },
    ],
  },
  {
    name: 'diff',
    summary: 'show what apply would change',
    load: async () => (await import('./diff.ts')).diffCommand,
  },
  {
    name: 'delete',
    summary: 'delete objects',
    load: async () => (await import('./delete.ts')).deleteCommand,
  },
  {
    name: 'edit',
    summary: 'change an object in an editor',
    load: async () => (await import('./edit.ts')).editCommand,
  },
  {
    name: 'patch',
    summary: 'change fields of an object',
    load: async () => (await import('./patch.ts')).patchCommand,
  },
  {
    name: 'replace',
    summary: 'replace objects by what files say',
    load: async () => (await import('./replace.ts')).replaceCommand,
  },
  {
    name: 'label',
    summary: 'set labels of objects',
    load: async () => (await import('./label/label.ts')).labelCommand,
  },
  {
    name: 'annotate',
    summary: 'set annotations of objects',
    load: async () => (await import('./label/annotate.ts')).annotateCommand,
  },
  {
    name: 'scale',
    summary: 'set how many replicas something has',
    load: async () => (await import('./scale.ts')).scaleCommand,
  },
  {
    name: 'wait',
    summary: 'wait until objects are as asked for',
    load: async () => (await import('./wait.ts')).waitCommand,
  },
  {
    name: 'events',
    summary: 'show what happened lately',
    load: async () => (await import('./events.ts')).eventsCommand,
  },
  {
    name: 'explain',
    summary: 'explain a type and its fields',
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
  {
    name: 'generate',
    summary: 'write code for the types of objects',
    commands: [
      {
        name: 'types',
        summary: 'write TypeScript for types of objects',
        load: async () => (await import('./generate/types.ts')).generateTypesCommand,
      },
    ],
  },
  {
    name: 'certificate',
    summary: 'approve or deny requests for certificates',
    commands: [
      {
        name: 'approve',
        summary: 'approve requests for certificates',
        load: async () => (await import('./certificate.ts')).approveCommand,
      },
      {
        name: 'deny',
        summary: 'deny requests for certificates',
        load: async () => (await import('./certificate.ts')).denyCommand,
      },
    ],
  },
  {
    name: 'auth',
    summary: 'ask who one is, what one may do, and why',
    commands: [
      {
        name: 'can-i',
        summary: 'ask whether an action is allowed',
        load: async () => (await import('./auth/can-i.ts')).canICommand,
      },
      {
        name: 'whoami',
        summary: 'ask who the server takes you for',
        load: async () => (await import('./auth/whoami.ts')).whoamiCommand,
      },
      {
        name: 'why',
        summary: 'ask why an action is allowed or not',
        load: async () => (await import('./auth/why.ts')).whyCommand,
      },
    ],
  },
  {
    name: 'api-resources',
    summary: 'show which types of objects the server has',
    load: async () => (await import('./api-resources.ts')).apiResourcesCommand,
  },
  {
    name: 'api-versions',
    summary: 'show which API versions the server has',
    load: async () => (await import('./api-versions.ts')).apiVersionsCommand,
  },
  {
    name: 'cluster-info',
    summary: 'show where the server is, and whether it is ready',
    load: async () => (await import('./cluster-info.ts')).clusterInfoCommand,
  },
  {
    name: 'config',
    summary: 'show and change the client config',
    commands: [
      {
        name: 'view',
        summary: 'show the client config',
        load: async () => (await import('./config/view.ts')).viewCommand,
      },
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
      {
        name: 'use-context',
        summary: 'make a context the one in use',
        load: async () => (await import('./config/use-context.ts')).useContextCommand,
      },
      {
        name: 'set-context',
        summary: 'set what a context says',
        load: async () => (await import('./config/set-context.ts')).setContextCommand,
      },
      {
        name: 'set-cluster',
        summary: 'set where a cluster is',
        load: async () => (await import('./config/set-cluster.ts')).setClusterCommand,
      },
      {
        name: 'set-credentials',
        summary: 'set how a user shows who it is',
        load: async () => (await import('./config/set-credentials.ts')).setCredentialsCommand,
      },
    ],
  },
  {
    name: 'completion',
    summary: 'print what makes a shell complete words',
    load: async () => (await import('./completion/completion.ts')).completionCommand,
  },
  {
    name: 'version',
    summary: 'show the versions of this program and of the server',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
