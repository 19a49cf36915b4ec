/**
 * Runs orchctl with the given arguments and determines its exit code: finds the command, prints help and reports
 * errors. `orchctl.ts` connects it to the process with its streams and signals.
 */

import { version } from '../../../api/model/version.ts'
import { helpText } from '../../../base/flags/flag-help.ts'
import { closestMatch, maxTypos, parseCommandLine, splitCommand, UsageError } from '../../../base/flags/flags.ts'
import { commands } from '../commands/all.ts'
import type { CommandEntry, CommandGroup } from '../commands/entry.ts'
import { isNotBuilt } from '../commands/unsupported-commands.ts'
import { connectionFlags } from '../connection/connection-flags.ts'
import { type Context, ExitCode, Failure } from './command.ts'

/** The context of the program before a command is selected. */
export type ProgramContext = Omit<Context, 'commandLine'>

type Entry = CommandEntry | CommandGroup

export async function main(programContext: ProgramContext, args: readonly string[]): Promise<number> {
  const context = { ...programContext, commandLine: ['orchctl', ...args].join(' ') }
  try {
    await run(context, args)
    return 0
  } catch (error) {
    // If the user interrupted the command, print no error.
    if (context.signal.aborted) return interrupted
    if (error instanceof ExitCode) return error.code
    const [{ explainError }, { painterFor }] = await Promise.all([
      import('./explain-error.ts'),
      import('../printers/colours.ts'),
    ])
    const [code, reason] = error instanceof Failure ? [error.code, error.cause] : [1, error]
    const text = await explainError(reason)
    const begins = /^(?:error:|Error from server[^:]*:)/gim
    const painted = painterFor(context, 'err')
    context.err(painted === undefined ? text : text.replaceAll(begins, (head) => painted(head, 'bad')))
    return code
  }
}

/** Exit code that shells report for a program ended by SIGINT. */
const interrupted = 130

async function run(context: Context, args: readonly string[]): Promise<void> {
  const asksHelp = args.some((arg, i) => (arg === '--help' || arg === '-h') && !args.slice(0, i).includes('--'))
  const plain = asksHelp ? args.filter((arg) => arg !== '--help' && arg !== '-h') : args
  if (plain[0] === '__complete') return await complete(context, args.slice(1))
  if (plain[0] === '--version') return await run(context, ['version', '--client'])
  const { command, rest } = splitCommand(connectionFlags, plain)
  if (command === undefined || command === 'help')
    return await help(context, command === undefined ? [] : wordsOf(rest))
  if (!isCommand(command) && (await ranPlugin(context, args))) return
  await runEntry(context, findCommand(commands, command, 'orchctl'), { rest, asksHelp, before: `orchctl ${command}` })
}

function isCommand(name: string): boolean {
  return commands.some((command) => command.name === name || command.aliases?.includes(name))
}

/** Runs a plugin if the first word is not a built-in command. Throws ExitCode if the plugin fails. */
async function ranPlugin(context: Context, args: readonly string[]): Promise<boolean> {
  const { findPlugin } = await import('./plugins.ts')
  const plugin = findPlugin(context, args)
  if (plugin === undefined) return false
  const code = await context.runProgram(plugin.file, plugin.rest)
  if (code !== 0) throw new ExitCode(code)
  return true
}

/** Returns the words without global flags. Global flags may precede `help`, but have no effect on it. */
function wordsOf(args: readonly string[]): readonly string[] {
  return parseCommandLine(connectionFlags, args).words
}

/** Implements `orchctl __complete`, which shell completion scripts call. */
async function complete(context: Context, words: readonly string[]): Promise<void> {
  const { candidates } = await import('../commands/completion/candidates.ts')
  context.out((await candidates(context, commands, words)).map((word) => `${word}\n`).join(''))
}

interface Call {
  /** Arguments after the command name. */
  readonly rest: readonly string[]
  readonly asksHelp: boolean
  /** The command name, such as `config view`. */
  readonly before: string
}

async function runEntry(context: Context, entry: Entry, call: Call): Promise<void> {
  if (!('commands' in entry)) return await callCommand(context, entry, call)
  const { command, rest } = wordAfter(call.rest)
  if (command !== undefined && (entry.load === undefined || rest !== undefined)) {
    const inner = findCommand(entry.commands, command, call.before)
    return await runEntry(context, inner, { ...call, rest: rest ?? [], before: `${call.before} ${command}` })
  }
  if (entry.load !== undefined && !call.asksHelp)
    return await callCommand(context, { ...entry, load: entry.load }, call)
  await showHelp(context, await helpOf(entry, call.before))
  // The command name is incomplete. This is an error unless the user asked for help.
  if (!call.asksHelp) throw new ExitCode(1)
}

/** Returns the next word that is not a flag, or undefined if a command flag precedes it. */
function wordAfter(args: readonly string[]): { command: string | undefined; rest?: string[] } {
  try {
    return splitCommand(connectionFlags, args)
  } catch (error) {
    if (error instanceof UsageError) return { command: undefined }
    throw error
  }
}

async function callCommand(context: Context, entry: CommandEntry, { rest, asksHelp }: Call): Promise<void> {
  const command = await entry.load()
  if (asksHelp) await showHelp(context, command.help)
  else await command.run(context, rest)
}

async function help(context: Context, words: readonly string[]): Promise<void> {
  if (words.length === 0) return await showHelp(context, usage())
  let before = 'orchctl'
  let commandEntries: readonly Entry[] = commands
  let entry: Entry | undefined
  for (const word of words) {
    entry = findCommand(commandEntries, word, before)
    commandEntries = 'commands' in entry ? entry.commands : []
    before = `${before} ${word}`
  }
  await showHelp(context, await helpOf(entry!, before))
}

async function showHelp({ out, terminal }: Context, text: string): Promise<void> {
  if (!terminal.out || !terminal.columns) return out(text)
  const { fitText } = await import('../printers/fit.ts')
  out(fitText(text, terminal.columns))
}

/** Returns the help of a command, including its subcommands. */
async function helpOf(entry: Entry, before: string): Promise<string> {
  if (!('commands' in entry)) return (await entry.load()).help
  const own =
    entry.load === undefined
      ? `${before}: ${entry.summary}\n\nUsage:\n  ${before} COMMAND [arguments] [flags]\n`
      : (await entry.load()).help
  return `${own}\nCommands:\n${listed(entry.commands)}\n`
}

function findCommand(commandEntries: readonly Entry[], name: string, before: string): Entry {
  const matchingEntry = commandEntries.find((command) => command.name === name || command.aliases?.includes(name))
  if (matchingEntry !== undefined) return matchingEntry
  const words = `${before} ${name}`.replace(/^orchctl /, '')
  if (isNotBuilt(words))
    throw new UsageError(`\`orchctl ${words}\` is not supported; \`orchctl help\` lists the commands`)
  const names = commandEntries.map((command) => command.name)
  const hint = closestMatch(name, names, maxTypos(name))
  if (names.length === 0) throw new UsageError(`${before} has no subcommands: unexpected ${JSON.stringify(name)}`)
  const advice = hint === undefined ? `known commands are ${names.join(', ')}` : `did you mean ${hint}?`
  throw new UsageError(`unknown command ${JSON.stringify(name)}; ${advice} (${before} help)`)
}

function listed(entries: readonly { readonly name: string; readonly summary: string }[]): string {
  const width = Math.max(...entries.map(({ name }) => name.length)) + 2
  return entries.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join('\n')
}

function usage(): string {
  return `orchctl ${version}: the orch command-line client

Usage:
  orchctl COMMAND [arguments] [flags]

Commands:
${listed([...commands, { name: 'help COMMAND', summary: 'show help for a command' }])}

Flags for all commands:
${helpText(connectionFlags)}
`
}
