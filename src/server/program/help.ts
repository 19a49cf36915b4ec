/**
 * The help for `orch`. One table lists the commands. `orch` without arguments prints an overview, `orch help COMMAND`
 * describes one command with its flags, and `orch help flags` lists the flags of the server by group. The flags of a
 * command are loaded on demand, because a server does not need them.
 */

import { version } from '../../api/model/version.ts'
import { groupedHelp } from '../../base/flags/flag-help.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { fillLines } from '../../base/text/fill-lines.ts'
import { backupCommandFlags } from '../flags/backup.ts'
import { flagGroupsOf } from '../flags/command-line.ts'
import type { FlagGroups } from '../flags/configuration-file.ts'
import { serverFlagGroups } from '../flags/options.ts'

interface CommandHelp {
  readonly form: string
  readonly summary: string
  /** Description of the command in a few sentences. It precedes the flags in the help text. */
  readonly about: string
  readonly flagGroups: () => Promise<FlagGroups>
}

/** The commands of `orch`, in the order of the help text. */
export const commands: { readonly [name: string]: CommandHelp } = {
  up: {
    form: 'up [flags]',
    summary: 'run a cluster: API server, control loops, simulated nodes',
    about: 'The server stores its data in --data-dir, so the data survives restarts. Press Ctrl-C to stop the server.',
    flagGroups: async () => await flagGroupsOf('up'),
  },
  apiserver: {
    form: 'apiserver [flags]',
    summary: 'run the API server only',
    about: 'To also run the control loops, start orch controller-manager.',
    flagGroups: async () => await flagGroupsOf('apiserver'),
  },
  'controller-manager': {
    form: 'controller-manager [flags]',
    summary: 'run the control loops for an API server',
    about: 'If several managers are running, only the manager that holds the leader-election Lease runs the loops.',
    flagGroups: async () => (await import('../flags/controller-manager.ts')).managerFlagGroups,
  },
  token: {
    form: 'token create [TOKEN] | list | delete ID [flags]',
    summary: 'manage the bootstrap tokens that nodes use to join a cluster',
    about: 'A node uses the token to request its certificate. The token expires after --ttl.',
    flagGroups: async () => (await import('../../tools/joining/token-commands.ts')).tokenFlagGroups,
  },
  join: {
    form: 'join [flags]',
    summary: 'join a cluster as a node, using a bootstrap token',
    about: 'The command verifies the cluster with the token, and then requests a certificate for the node.',
    flagGroups: async () => ({ Join: (await import('../../tools/joining/join.ts')).joinFlags }),
  },
  'node-agent': {
    form: 'node-agent --name NAME --bootstrap-kubeconfig FILE [flags]',
    summary: 'run one simulated node',
    about: 'The node reports pods as running without starting containers.',
    flagGroups: async () => (await import('../flags/node-agent.ts')).nodeAgentFlagGroups,
  },
  encryption: {
    form: 'encryption rewrite [flags]',
    summary: 'encrypt the existing data in a store while no server is running',
    about: 'The command encrypts the data with the first key in the --encryption-provider-config file.',
    flagGroups: async () => ({ Storage: serverFlagGroups.Storage }),
  },
  backup: backupCommand('backup --to FILE [flags]', 'back up a server or a store to a file'),
  restore: backupCommand('restore --from FILE [flags]', 'restore a backup into an empty store'),
  check: backupCommand('check [flags]', 'check a store or a backup for damage'),
  migrate: backupCommand('migrate [flags]', 'copy a store into an empty store'),
  envtest: {
    form: 'envtest etcd|kube-apiserver|install [flags]',
    summary: 'replace the etcd and kube-apiserver binaries in envtest',
    about:
      "Set KUBEBUILDER_ASSETS to this package's bin/envtest directory, or to the directory that orch envtest install prints.",
    flagGroups: async () => ({ Install: (await import('./envtest-install.ts')).installFlags }),
  },
  config: {
    form: 'config defaults | check FILE [flags]',
    summary: 'print or check a configuration file for the --config flag',
    about:
      'The file has a field for every flag of orch up and orch apiserver. To read standard input, use - as FILE. See docs/operate/configuration.md.',
    flagGroups: async () => ({ Config: (await import('./config-command.ts')).configFlags }),
  },
  status: {
    form: 'status [flags]',
    summary: 'show the status of a server, its store and its last backup',
    about: 'The exit code is 1 if the server is not ready.',
    flagGroups: async () => ({ Status: (await import('./status-command.ts')).statusFlags }),
  },
  reset: {
    form: 'reset [flags]',
    summary: 'delete the data and the kubeconfig of a stopped server',
    about:
      'The command asks for confirmation before deleting anything. To keep a copy of the data, run orch backup first.',
    flagGroups: async () => ({ Reset: (await import('./reset-command.ts')).resetFlags }),
  },
  version: {
    form: 'version',
    summary: 'print the version',
    about: 'Prints the versions of orch and Node.js.',
    flagGroups: async () => ({}),
  },
}

/** Names of all commands, in the order of the overview. */
export const commandNames: readonly string[] = Object.keys(commands)

function backupCommand(form: string, summary: string): CommandHelp {
  const [name = ''] = form.split(' ')
  return {
    form,
    summary,
    about: 'See docs/operate/backup.md.',
    flagGroups: async () => ({ [`orch ${name}`]: backupCommandFlags[name] ?? {} }),
  }
}

/** Common tasks, with commands that work without modification. */
export const tasks: readonly (readonly [task: string, command: string])[] = [
  ['Run a cluster on this machine', 'orch up'],
  ['Run one for kubectl and client-go', 'orch up --profile=kubernetes'],
  ['Run a server for a team, on etcd', 'orch apiserver --etcd-servers=URLS'],
  ['Add a node', 'orch token create, then orch join'],
  ['Back up, and restore', 'orch backup --to FILE, orch restore --from FILE'],
]

/** Line width of the help if the output is not a terminal. */
const plainWidth = 80

/**
 * Returns the help for a topic: a command, `flags`, or the overview if undefined. Throws UsageError for other topics.
 */
export async function helpFor(topic: string | undefined, columns: number | undefined): Promise<string> {
  const width = columns ?? plainWidth
  if (topic === undefined || topic === 'help') return overview()
  if (topic === 'flags') return await allFlags(width)
  const command = Object.hasOwn(commands, topic) ? commands[topic]! : undefined
  if (command === undefined)
    throw new UsageError(
      `no help for ${JSON.stringify(topic)}: use orch help flags, or orch help followed by one of ${commandNames.join(', ')}`,
    )
  const { form, summary, about, flagGroups } = command
  const groups = await flagGroups()
  const lines = fillLines(about, Math.min(width, plainWidth)).join('\n')
  return `orch ${topic}: ${summary}\n\nUsage:\n  orch ${form}\n\n${lines}\n\n${groupedHelp(groups, width)}`
}

function overview(): string {
  const taskLines = tasks.map(([task, command]) => `  ${task.padEnd(36)}${command}`)
  const commandLines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(20)}${summary}`)
  return [
    `orch ${version}: a cluster-orchestration API server`,
    '',
    ...taskLines,
    '',
    'Commands:',
    ...commandLines,
    '',
    'Run orch help COMMAND for a command and its flags, or orch help flags for all server flags by',
    'group. Use orchctl to work with the objects of a cluster.',
    '',
  ].join('\n')
}

async function allFlags(width: number): Promise<string> {
  const groups = await commands.up!.flagGroups()
  const note = 'All flags of orch up. orch apiserver has the flags in every group except the first.'
  return `${note}\n\n${groupedHelp(groups, width)}`
}
