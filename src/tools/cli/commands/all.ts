/**
 * The list of commands. Each is loaded when it is called: what the others need costs nothing. A command is one file
 * here, or a folder where that would be long; commands that belong together have a name in common, as those of
 * `orchctl config` do.
 */
import { configCommands } from './config/all.ts'
import { createCommands } from './create/all.ts'
import type { CommandEntry, CommandGroup } from './entry.ts'
import { rolloutCommands } from './rollout/all.ts'
import { setCommands } from './set/all.ts'

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
    name: 'tree',
    summary: 'show an object with its owners and all that it owns',
    load: async () => (await import('./tree.ts')).treeCommand,
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
    commands: createCommands,
  },
  {
    name: 'kustomize',
    summary: 'print the objects of a kustomization',
    load: async () => (await import('./kustomize.ts')).kustomizeCommand,
  },
  {
    name: 'diff',
    summary: 'show what apply would change',
    load: async () => (await import('./diff.ts')).diffCommand,
  },
  {
    name: 'history',
    summary: 'show who changed an object, when and what',
    load: async () => (await import('./history.ts')).historyCommand,
  },
  {
    name: 'blame',
    summary: 'show who set each field of an object',
    load: async () => (await import('./blame.ts')).blameCommand,
  },
  {
    name: 'undo',
    summary: 'take back a change of an object',
    load: async () => (await import('./undo.ts')).undoCommand,
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
    name: 'rollout',
    summary: 'show, undo, hold up and restart rollouts',
    commands: rolloutCommands,
  },
  {
    name: 'set',
    summary: 'set images, variables, resources and the like',
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
    summary: 'show what containers have printed',
    load: async () => (await import('./pods/logs.ts')).logsCommand,
  },
  {
    name: 'exec',
    summary: 'run a program in a container',
    load: async () => (await import('./pods/exec.ts')).execCommand,
  },
  {
    name: 'attach',
    summary: 'join the program of a container',
    load: async () => (await import('./pods/attach.ts')).attachCommand,
  },
  {
    name: 'cp',
    summary: 'copy files into a container and out of it',
    load: async () => (await import('./pods/cp.ts')).cpCommand,
  },
  {
    name: 'port-forward',
    summary: 'forward local ports to a pod',
    load: async () => (await import('./pods/port-forward.ts')).portForwardCommand,
  },
  {
    name: 'debug',
    summary: 'add a container to a pod for looking around',
    load: async () => (await import('./pods/debug.ts')).debugCommand,
  },
  {
    name: 'top',
    summary: 'show what nodes, pods and the server use',
    commands: [
      {
        name: 'nodes',
        aliases: ['node', 'no'],
        summary: 'show what nodes use',
        load: async () => (await import('./top/metrics.ts')).topNodesCommand,
      },
      {
        name: 'pods',
        aliases: ['pod', 'po'],
        summary: 'show what pods use',
        load: async () => (await import('./top/metrics.ts')).topPodsCommand,
      },
      {
        name: 'server',
        summary: 'show how busy the server is',
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
    summary: 'keep pods away from nodes',
    load: async () => (await import('./nodes/taint.ts')).taintCommand,
  },
  {
    name: 'cordon',
    summary: 'let no new pods come to a node',
    load: async () => (await import('./nodes/cordon.ts')).cordonCommand,
  },
  {
    name: 'uncordon',
    summary: 'let pods come to a node again',
    load: async () => (await import('./nodes/cordon.ts')).uncordonCommand,
  },
  {
    name: 'drain',
    summary: 'empty a node',
    load: async () => (await import('./nodes/drain.ts')).drainCommand,
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
      {
        name: 'who-can',
        summary: 'ask who may do something',
        load: async () => (await import('./auth/who-can.ts')).whoCanCommand,
      },
      {
        name: 'reconcile',
        summary: 'bring roles and bindings to what files say',
        load: async () => (await import('./auth/reconcile.ts')).reconcileCommand,
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
    commands: [
      {
        name: 'dump',
        summary: 'print what helps to see what is wrong',
        load: async () => (await import('./cluster-info-dump.ts')).clusterInfoDumpCommand,
      },
    ],
  },
  {
    name: 'config',
    summary: 'show and change the client config',
    commands: configCommands,
  },
  {
    name: 'completion',
    summary: 'print what makes a shell complete words',
    load: async () => (await import('./completion/completion.ts')).completionCommand,
  },
  {
    name: 'plugin',
    summary: 'show the plugins on the PATH',
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
    summary: 'show the flags that all commands have',
    load: async () => (await import('./options.ts')).optionsCommand,
  },
  {
    name: 'version',
    summary: 'show the versions of this program and of the server',
    load: async () => (await import('./version.ts')).versionCommand,
  },
]
