/**
 * One run of orchctl, from its arguments to its exit code: finds the command, gives help, and tells what went wrong.
 * The process itself (its streams and signals) is the affair of `orchctl.ts`.
 */
import { helpText, nearest, splitCommand, UsageError } from '../base/flags.ts'
import { version } from '../model/version.ts'
import type { Context } from './command.ts'
import { type CommandEntry, commands } from './commands.ts'
import { connectionFlags } from './connection-flags.ts'

export async function main(context: Context, args: readonly string[]): Promise<number> {
  try {
    await run(context, args)
    return 0
  } catch (error) {
    // The user ended it, and knows.
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
  const found = await findCommand(command).load()
  if (asksHelp) context.out(found.help)
  else await found.run(context, rest)
}

async function help(context: Context, [name]: readonly string[]): Promise<void> {
  context.out(name === undefined ? usage() : (await findCommand(name).load()).help)
}

function findCommand(name: string): CommandEntry {
  const known = commands.find((command) => command.name === name)
  if (known !== undefined) return known
  const names = commands.map((command) => command.name)
  const hint = nearest(name, names)
  const advice = hint === undefined ? `known are ${names.join(', ')}` : `did you mean ${hint}?`
  throw new UsageError(`unknown command ${JSON.stringify(name)}; ${advice} (orchctl help)`)
}

function usage(): string {
  const width = Math.max(...commands.map(({ name }) => name.length), 'help COMMAND'.length) + 2
  const lines = [...commands, { name: 'help COMMAND', summary: 'show what a command does and its flags' }]
  return `orchctl ${version}: the command-line client of orch

Usage:
  orchctl COMMAND [arguments] [flags]

Commands:
${lines.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join('\n')}

Flags of all commands:
${helpText(connectionFlags)}
`
}
