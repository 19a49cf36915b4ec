/**
 * The list of commands. Each command is loaded when it is called, so that unused commands cost nothing. A command is
 * one file in this folder, or a subfolder if the command is long. Related commands, such as those of `orchctl config`,
 * have the same first word.
 */
import { configCommands } from './config/all.ts'
import { createCommands } from './create/all.ts'
import type { CommandEntry, CommandGroup } from './entry.ts'
import { rolloutCommands } from './rollout/all.ts'
import { setCommands } from './set/all.ts'

export const commands: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'get',
    summary: 'list objects',
    load: async () => (await import('./get/get.ts')).getCommand,
  },
  {
    name: 'describe',
    summary: 'show details of objects',
    load: async () => (await import('./describe/describe.ts')).describeCommand,
  },
  {
    name: 'tree',
    summary: 'show an object with its owners and dependents',
    load: async () => (await import('./tree.ts')).treeCommand,
  },
  {
    name: 'apply',
    summary: 'create or update objects from files',
    load: async () => (await import('./apply/apply.ts')).applyCommand,
    commands: [
      {
        name: 'view-last-applied',
        summary: 'show the last applied configuration of objects',
        load: async () => (await import('./apply/view-last-applied.ts')).viewLastAppliedCommand,
      },
      {
        name: 'set-last-applied',
        summary: 'record the contents of files as the last applied configuration',
        load: async () => (await import('./apply/set-last-applied.ts')).setLastAppliedCommand,
      },
      {
        name: 'edit-last-applied',
        summary: 'edit the last applied configuration',
        load: async () => (await import('./apply/edit-last-applied.ts')).editLastAppliedCommand,
      },
    ],
  },
  {
    name: 'explain-admission',
    summary: 'show how admission plugins and webhooks would process objects',
    load: async () => (await import('./explain-admission.ts')).explainAdmissionCommand,
  },
  {
    name: 'policy',
    summary: 'test admission policies from files',
    commands: [
      {
        name: 'test',
        summary: 'evaluate admission policies from files, without a server',
        load: async () => (await import('./policy/test.ts')).policyTestCommand,
      },
    ],
  },
  {
    name: 'create',
    summary: 'create objects from files or flags',
    load: async () => (await import('./create/create.ts')).createCommand,
    commands: createCommands,
  },
  {
    name: 'kustomize',
    summary: 'print the objects that a kustomization generates',
    load: async () => (await import('./kustomize.ts')).kustomizeCommand,
  },
  {
    name: 'diff',
    summary: 'show the changes that apply would make',
    load: async () => (await import('./diff.ts')).diffCommand,
  },
  {
    name: 'history',
    summary: 'show the change history of an object',
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'blame',
    summary: 'show who last set each field of an object',
    load: async () => (await import('./blame.ts')).blameCommand,
  },
  {
    name: 'undo',
    summary: 'revert a change to an object',
    load: async () => (await import('./undo.ts')).undoCommand,
  },
  {
    name: 'delete',
    summary: 'delete objects',
    load: async () => (await import('./delete.ts')).deleteCommand,
  },
  {
    name: 'edit',
    summary: 'edit objects in an editor',
    load: async () => (await import('./edit.ts')).editCommand,
  },
  {
    name: 'patch',
    summary: 'update fields of an object',
    load: async () => (await import('./patch.ts')).patchCommand,
  },
  {
    name: 'replace',
    summary: 'replace objects with the contents of files',
    load: async () => (await import('./replace.ts')).replaceCommand,
  },
  {
    name: 'label',
    summary: 'update labels on objects',
    load: async () => (await import('./label/label.ts')).labelCommand,
  },
  {
    name: 'annotate',
    summary: 'update annotations on objects',
    load: async () => (await import('./label/annotate.ts')).annotateCommand,
  },
  {
    name: 'scale',
    summary: 'set the number of replicas of a workload',
    load: async () => (await import('./scale.ts')).scaleCommand,
  },
  {
    name: 'rollout',
    summary: 'manage rollouts of workloads',
    commands: rolloutCommands,
  },
  {
    name: 'set',
    summary: 'set images, environment variables, resources and other fields',
    commands: setCommands,
  },
  {
    name: 'run',
    summary: 'run an image in a pod',
    load: async () => (await import('./run.ts')).runCommand,
  },
  {
    name: 'expose',
    summary: 'create a service for a workload or a pod',
    load: async () => (await import('./expose.ts')).exposeCommand,
  },
  {
    name: 'autoscale',
    summary: 'create an autoscaler for a workload',
    load: async () => (await import('./autoscale.ts')).autoscaleCommand,
  },
  {
    name: 'logs',
    summary: 'print container logs',
    load: async () => (await import('./pods/logs.ts')).logsCommand,
  },
  {
    name: 'exec',
    summary: 'run a command in a container',
    load: async () => (await import('./pods/exec.ts')).execCommand,
  },
  {
    name: 'attach',
    summary: 'attach to a running container',
    load: async () => (await import('./pods/attach.ts')).attachCommand,
  },
  {
    name: 'cp',
    summary: 'copy files to and from a container',
    load: async () => (await import('./pods/cp.ts')).cpCommand,
  },
  {
    name: 'port-forward',
    summary: 'forward local ports to a pod',
    load: async () => (await import('./pods/port-forward.ts')).portForwardCommand,
  },
  {
    name: 'debug',
    summary: 'debug a pod or node with an extra container',
    load: async () => (await import('./pods/debug.ts')).debugCommand,
  },
  {
    name: 'top',
    summary: 'show resource usage of nodes, pods and the server',
    commands: [
      {
        name: 'nodes',
        aliases: ['node', 'no'],
        summary: 'show CPU and memory usage of nodes',
        load: async () => (await import('./top/metrics.ts')).topNodesCommand,
      },
      {
        name: 'pods',
        aliases: ['pod', 'po'],
        summary: 'show CPU and memory usage of pods',
        load: async () => (await import('./top/metrics.ts')).topPodsCommand,
      },
      {
        name: 'server',
        summary: 'show the load of the server',
        load: async () => (await import('./top/server.ts')).topServerCommand,
      },
    ],
  },
  {
    name: 'proxy',
    summary: 'serve the API on a local port',
    load: async () => (await import('./pods/proxy.ts')).proxyCommand,
  },
  {
    name: 'taint',
    summary: 'update taints on nodes',
    load: async () => (await import('./nodes/taint.ts')).taintCommand,
  },
  {
    name: 'cordon',
    summary: 'mark a node unschedulable',
    load: async () => (await import('./nodes/cordon.ts')).cordonCommand,
  },
  {
    name: 'uncordon',
    summary: 'mark a node schedulable',
    load: async () => (await import('./nodes/cordon.ts')).uncordonCommand,
  },
  {
    name: 'drain',
    summary: 'evict all pods from a node',
    load: async () => (await import('./nodes/drain.ts')).drainCommand,
  },
  {
    name: 'simulate',
    summary: 'make simulated pods and nodes fail, for testing',
    commands: [
      {
        name: 'pod',
        aliases: ['pods', 'po'],
        summary: 'make a simulated pod fail',
        load: async () => (await import('./simulate/simulate.ts')).simulatePodCommand,
      },
      {
        name: 'node',
        aliases: ['nodes', 'no'],
        summary: 'make a simulated node fail',
        load: async () => (await import('./simulate/simulate.ts')).simulateNodeCommand,
      },
    ],
  },
  {
    name: 'wait',
    summary: 'wait until objects meet a condition',
    load: async () => (await import('./wait.ts')).waitCommand,
  },
  {
    name: 'events',
    summary: 'list recent events',
    load: async () => (await import('./events.ts')).eventsCommand,
  },
  {
    name: 'explain',
    summary: 'describe a resource type and its fields',
    load: async () => (await import('./explain/explain.ts')).explainCommand,
  },
  {
    name: 'generate',
    summary: 'generate code for resource types',
    commands: [
      {
        name: 'types',
        summary: 'generate TypeScript types',
        load: async () => (await import('./generate/types.ts')).generateTypesCommand,
      },
    ],
  },
  {
    name: 'certificate',
    summary: 'approve or deny certificate signing requests',
    commands: [
      {
        name: 'approve',
        summary: 'approve certificate signing requests',
        load: async () => (await import('./certificate.ts')).approveCommand,
      },
      {
        name: 'deny',
        summary: 'deny certificate signing requests',
        load: async () => (await import('./certificate.ts')).denyCommand,
      },
    ],
  },
  {
    name: 'auth',
    summary: 'inspect identity and permissions',
    commands: [
      {
        name: 'can-i',
        summary: 'check whether an action is allowed',
        load: async () => (await import('./auth/can-i.ts')).canICommand,
      },
      {
        name: 'whoami',
        summary: 'show the authenticated user',
        load: async () => (await import('./auth/whoami.ts')).whoamiCommand,
      },
      {
        name: 'why',
        summary: 'explain why an action is allowed or denied',
        load: async () => (await import('./auth/why.ts')).whyCommand,
      },
      {
        name: 'who-can',
        summary: 'list who can perform an action',
        load: async () => (await import('./auth/who-can.ts')).whoCanCommand,
      },
      {
        name: 'reconcile',
        summary: 'create or update RBAC objects from files',
        load: async () => (await import('./auth/reconcile.ts')).reconcileCommand,
      },
    ],
  },
  {
    name: 'api-resources',
    summary: "list the server's resource types",
    load: async () => (await import('./api-resources.ts')).apiResourcesCommand,
  },
  {
    name: 'api-versions',
    summary: "list the server's API versions",
    load: async () => (await import('./api-versions.ts')).apiVersionsCommand,
  },
  {
    name: 'cluster-info',
    summary: "show the server's address and readiness",
    load: async () => (await import('./cluster-info.ts')).clusterInfoCommand,
    commands: [
      {
        name: 'dump',
        summary: 'dump objects and logs for debugging',
        load: async () => (await import('./cluster-info-dump.ts')).clusterInfoDumpCommand,
      },
    ],
  },
  {
    name: 'config',
    summary: 'view and change the kubeconfig',
    commands: configCommands,
  },
  {
    name: 'completion',
    summary: 'print the shell completion script',
    load: async () => (await import('./completion/completion.ts')).completionCommand,
  },
  {
    name: 'plugin',
    summary: 'manage plugins',
    commands: [
      {
        name: 'list',
        summary: 'list the plugins on the PATH',
        load: async () =>
          (await import('./plugin.ts')).pluginListCommand(
            commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]),
          ),
      },
    ],
  },
  {
    name: 'options',
    summary: 'show the flags that all commands accept',
    load: async () => (await import('./options.ts')).optionsCommand,
  },
  {
    name: 'version',
    summary: 'print the client and server versions',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
