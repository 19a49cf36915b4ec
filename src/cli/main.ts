/**
 * One run of orchctl, from its arguments to its exit code: finds the command, gives help, and says what went wrong.
 * The process itself (its streams and signals) is left to `orchctl.ts`.
 */
import { helpText, nearest, splitCommand, UsageError } from '../base/flags.ts'
import { version } from '../model/version.ts'
import type { Context } from './command.ts'
import { type CommandEntry, type CommandGroup, commands } from './commands/all.ts'
import { connectionFlags } from './connection-flags.ts'

export async function main(context: Context, args: readonly string[]): Promise<number> {
  try {
    await run(context, args)
    return 0
  } catch (error) {
    // The user ended it: nothing to report.
    if (context.signal.aborted) return interrupted
    const { explainError } = await import('./explain-error.ts')
    context.err(explainError(error))
    return 1
  }
}

/** What shells report of a program that SIGINT ended. */
const interrupted = 130

async function run(context: Context, args: readonly string[]): Promise<void> {
  const asksHelp = args.some((arg, i) => (arg === '--help' || arg === '-h') && !args.slice(0, i).includes('--'))
  const plain = asksHelp ? args.filter((arg) => arg !== '--help' && arg !== '-h') : args
  if (plain[0] === '--version') return await run(context, ['version', '--client'])
  const { command, rest } = splitCommand(connectionFlags, plain)
  if (command === undefined || command === 'help') return await help(context, command === undefined ? [] : rest)
  const found = findCommand(commands, command, 'orchctl')
  if ('load' in found) return await call(context, found, { rest, asksHelp })
  await runGroup(context, found, { rest, asksHelp })
}

interface Call {
  /** What stands after the name of the command. */
  readonly rest: readonly string[]
  readonly asksHelp: boolean
}

async function call(context: Context, entry: CommandEntry, { rest, asksHelp }: Call): Promise<void> {
  const command = await entry.load()
  if (asksHelp) context.out(command.help)
  else await command.run(context, rest)
}

async function runGroup(context: Context, group: CommandGroup, { rest, asksHelp }: Call): Promise<void> {
  const { command, rest: words } = splitCommand(connectionFlags, rest)
  if (command === undefined) context.out(groupUsage(group))
  else await call(context, inGroup(group, command), { rest: words, asksHelp })
}

function inGroup({ name, commands }: CommandGroup, command: string): CommandEntry {
  return findCommand(commands, command, `orchctl ${name}`)
}

async function help(context: Context, [name, nested]: readonly string[]): Promise<void> {
  const found = name === undefined ? undefined : findCommand(commands, name, 'orchctl')
  if (found === undefined) context.out(usage())
  else if ('load' in found) context.out((await found.load()).help)
  else context.out(nested === undefined ? groupUsage(found) : (await inGroup(found, nested).load()).help)
}

function findCommand<C extends { readonly name: string }>(known: readonly C[], name: string, before: string): C {
  const found = known.find((command) => command.name === name)
  if (found !== undefined) return found
  const names = known.map((command) => command.name)
  const hint = nearest(name, names)
  const advice = hint === undefined ? `known are ${names.join(', ')}` : `did you mean ${hint}?`
  throw new UsageError(`unknown command ${JSON.stringify(name)}; ${advice} (${before} help)`)
}

function listed(entries: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...entries.map(({ name }) => name.length)) + 2
  return entries.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join('\n')
}

function groupUsage({ name, summary, commands }: CommandGroup): string {
  return `orchctl ${name}: ${summary}

Usage:
  orchctl ${name} COMMAND [arguments] [flags]

Commands:
${listed(commands)}
`
}

function usage(): string {
  return `orchctl ${version}: the command-line client of orch

Usage:
  orchctl COMMAND [arguments] [flags]

Commands:
${listed([...commands, { name: 'help COMMAND', summary: 'show what a command does and its flags' }])}

Flags of all commands:
${helpText(connectionFlags)}
`
}
