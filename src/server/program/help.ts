/**
 * The help of `orch`. One table lists the commands; `orch` alone prints an overview of it, `orch help COMMAND` one command
 * with its flags, and `orch help flags` the flags of the server by group. Flags of a command are loaded when asked for,
 * because a server needs none of them.
 */

import { version } from '../../api/model/version.ts'
import { groupedHelp } from '../../base/flags/flag-help.ts'
import { type Flags, UsageError } from '../../base/flags/flags.ts'
import { fillLines } from '../../base/text/fill-lines.ts'
import { backupCommandFlags } from '../flags/backup.ts'
import { serverFlagGroups } from '../flags/options.ts'

interface CommandHelp {
  readonly form: string
  readonly summary: string
  /** What the flags cannot say, in a few sentences. */
  readonly about: string
  readonly flagGroups: () => Promise<FlagGroups>
}

type FlagGroups = { readonly [title: string]: Flags }

const commands: { readonly [name: string]: CommandHelp } = {
  up: {
    form: 'up [flags]',
    summary: 'run a cluster: API server, control loops, simulated nodes',
    about: 'Data is kept in --data-dir and is there at the next start. Stop it with Ctrl-C.',
    flagGroups: async () => {
      const { upOnlyFlags } = await import('../flags/up.ts')
      return { 'Control loop and node': upOnlyFlags, ...serverFlagGroups }
    },
  },
  apiserver: {
    form: 'apiserver [flags]',
    summary: 'run the API server alone',
    about: 'Run orch controller-manager beside it for the control loops.',
    flagGroups: async () => serverFlagGroups,
  },
  'controller-manager': {
    form: 'controller-manager [flags]',
    summary: 'run the control loops for an API server',
    about: 'Of several managers, the one that holds the leader-election lease runs the loops.',
    flagGroups: async () => (await import('../flags/controller-manager.ts')).managerFlagGroups,
  },
  token: {
    form: 'token create [TOKEN] | list | delete ID [flags]',
    summary: 'manage the tokens that nodes join with',
    about: 'A token lets a node request its certificate. It expires after --ttl.',
    flagGroups: async () => (await import('../../tools/joining/token-commands.ts')).tokenFlagGroups,
  },
  join: {
    form: 'join [flags]',
    summary: 'join a cluster as a node agent, with a token',
    about: 'Verifies the cluster with the token, then requests a certificate for this node.',
    flagGroups: async () => ({ Join: (await import('../../tools/joining/join.ts')).joinFlags }),
  },
  'node-agent': {
    form: 'node-agent --name NAME --bootstrap-kubeconfig FILE [flags]',
    summary: 'run one simulated node of a cluster',
    about: 'The node reports pods as running without starting any container.',
    flagGroups: async () => (await import('../flags/node-agent.ts')).nodeAgentFlagGroups,
  },
  encryption: {
    form: 'encryption rewrite [flags]',
    summary: 'encrypt the existing data of a stopped store',
    about: 'Encrypts with the first key of --encryption-provider-config.',
    flagGroups: async () => ({ Storage: serverFlagGroups.Storage }),
  },
  backup: backupCommand('backup --to FILE [flags]', 'copy a server or a store to a file'),
  restore: backupCommand('restore --from FILE [flags]', 'fill an empty store from a backup'),
  check: backupCommand('check [flags]', 'read a store or a backup and report damage'),
  migrate: backupCommand('migrate [flags]', 'copy a store into an empty one'),
  envtest: {
    form: 'envtest etcd|kube-apiserver [flags]',
    summary: 'stand in for the binaries that envtest starts',
    about: 'Set KUBEBUILDER_ASSETS to the directory bin/envtest of this package.',
    flagGroups: async () => ({}),
  },
  version: {
    form: 'version',
    summary: 'print the version',
    about: 'Prints the version of orch and of the Node that runs it.',
    flagGroups: async () => ({}),
  },
}

/** The names of the commands, in the order of the help. */
export const commandNames: readonly string[] = Object.keys(commands)

function backupCommand(form: string, summary: string): CommandHelp {
  const [name = ''] = form.split(' ')
  return {
    form,
    summary,
    about: 'See docs/backup.md.',
    flagGroups: async () => ({ [`orch ${name}`]: backupCommandFlags[name] ?? {} }),
  }
}

/** What most people do with `orch`, with commands that work as they stand. */
const tasks: readonly (readonly [task: string, command: string])[] = [
  ['Run a cluster on this machine', 'orch up'],
  ['Run one for kubectl and client-go', 'orch up --profile=kubernetes'],
  ['Run a server for a team, on etcd', 'orch apiserver --etcd-servers=URLS'],
  ['Add a node', 'orch token create, then orch join'],
  ['Back up, and restore', 'orch backup --to FILE, orch restore --from FILE'],
]

/** Lines of this length where the output is not a terminal. */
const plainWidth = 80

/** The help for a topic: a command, `flags`, or nothing for the overview. Throws UsageError for any other. */
export async function helpFor(topic: string | undefined, columns: number | undefined): Promise<string> {
  const width = columns ?? plainWidth
  if (topic === undefined || topic === 'help') return overview()
  if (topic === 'flags') return await allFlags(width)
  const command = Object.hasOwn(commands, topic) ? commands[topic]! : undefined
  if (command === undefined)
    throw new UsageError(
      `no help for ${JSON.stringify(topic)}: use orch help flags, or one of ${commandNames.join(', ')}`,
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
    'orch help COMMAND prints a command with its flags, orch help flags every flag of',
    'the server by group. Use orchctl to work with the objects of a cluster.',
    '',
  ].join('\n')
}

async function allFlags(width: number): Promise<string> {
  const groups = await commands.up!.flagGroups()
  const note = 'All flags of orch up. orch apiserver takes those of every group but the first.'
  return `${note}\n\n${groupedHelp(groups, width)}`
}
