/**
 * Implements the commands of a simulated container, such as `echo`, `cat`, `ls`, `sleep` and `tar`, and the shell `sh`,
 * which runs other commands in sequence. Client input never starts a real program. Only `tar` writes files, and these
 * files exist only in memory.
 */
import { StringDecoder } from 'node:string_decoder'
import { pause } from '../../../base/concurrency/abort.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { CommandMemoryError, type Environment } from './command-memory.ts'
import type { ContainerFiles } from './container-files.ts'
import { expandWords, type ShellCommand, splitCommands, type Word } from './shell-words.ts'
import { tar } from './tar-command.ts'

/** The resources that a simulated command can access: variables, files, input, output and limits. */
export interface ShellPlace {
  /** Speed of the container, as a multiple of real time. */
  readonly speed: number
  readonly hostname: string
  readonly environment: Environment
  /** The absolute path of the working directory. */
  readonly workDir: string
  readonly user: number
  readonly group: number
  readonly files: ContainerFiles
  /** Command line of the container's main process. */
  readonly program: string
  readonly print: (text: string | Buffer) => Promise<void>
  readonly printError: (text: string) => Promise<void>
  /** Input from the client. Undefined if the client sends no input. */
  readonly input: AsyncIterable<Buffer> | undefined
  readonly signal: AbortSignal
}

type Builtin = (args: readonly string[], place: ShellPlace) => Promise<number>

const notFound = 127
const cannotRun = 126
const shells = new Set(['sh', 'bash', 'ash', '/bin/sh', '/bin/bash', '/bin/ash'])

/** Available commands by name. */
const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['echo', echo],
  ['env', printEnvironment],
  ['printenv', printEnvironment],
  ['cat', cat],
  ['ls', ls],
  ['hostname', async (_args, { hostname, print }) => await done(print(`${hostname}\n`))],
  ['whoami', whoami],
  ['id', id],
  ['pwd', async (_args, { workDir, print }) => await done(print(`${workDir}\n`))],
  ['date', async (_args, { print }) => await done(print(`${new Date().toUTCString()}\n`))],
  ['uname', async (_args, { print }) => await done(print('Linux\n'))],
  ['sleep', sleep],
  ['ps', ps],
  ['tar', tar],
  ['test', testFile],
  ['true', async () => 0],
  ['false', async () => 1],
])

/** Whether the simulated shell implements this command. */
export function isCommand(name: string): boolean {
  return shells.has(name) || builtins.has(programOf(name))
}

/** Runs a command and returns its exit code. */
export async function runCommand(command: readonly string[], place: ShellPlace): Promise<number> {
  return await run(command, place, { depth: 0, line: { commandsLeft: maxCommands } })
}

/** Maximum nesting depth of shells. */
const maxDepth = 16
/** Maximum number of commands that one line may run, including the commands of nested shells. */
const maxCommands = 10_000

/**
 * The number of commands that a line may still run. Without a limit, a variable that contains its own expansion would
 * run commands forever.
 */
interface Allowance {
  readonly depth: number
  /** Number of commands that the line may still run. Shared by all shells that the line starts. */
  readonly line: { commandsLeft: number }
}

async function run([name = '', ...args]: readonly string[], place: ShellPlace, allowance: Allowance): Promise<number> {
  if (shells.has(name)) return await shell(args, place, allowance)
  const builtin = builtins.get(programOf(name))
  if (builtin !== undefined) return await builtin(args, place)
  await place.printError(
    `sh: ${name}: not found (this container is simulated: it has ${[...builtins.keys()].join(', ')} and sh)\n`,
  )
  return notFound
}

function programOf(name: string): string {
  return name.replace(/^(?:\/usr)?\/bin\//, '')
}

async function done(printed: Promise<void>): Promise<number> {
  await printed
  return 0
}

async function shell(args: readonly string[], place: ShellPlace, { depth, line }: Allowance): Promise<number> {
  if (depth >= maxDepth) {
    await place.printError(`sh: shells are nested more than ${maxDepth} deep\n`)
    return cannotRun
  }
  const at = args.findIndex((arg) => /^-\w*c$/.test(arg))
  if (at >= 0) return await runLine(args[at + 1] ?? '', place, { depth: depth + 1, line })
  return await runInput(place, depth + 1)
}

/** Runs the lines of standard input as commands, like an interactive shell. */
async function runInput(place: ShellPlace, depth: number): Promise<number> {
  let code = 0
  const slice = new TimeSlice()
  for await (const text of linesOf(place.input)) {
    await slice.yieldIfDue()
    if (place.signal.aborted) break
    const exit = /^\s*exit(?:\s+(\d{1,3}))?\s*$/.exec(text)
    if (exit !== null) return Number(exit[1] ?? code) & 255
    code = await runLine(text, place, { depth, line: { commandsLeft: maxCommands } })
  }
  return code
}

const maxLine = 64 * 1024

/** Splits input into lines. Each chunk is scanned only once. A line that exceeds the limit ends the input. */
async function* linesOf(input: AsyncIterable<Buffer> | undefined): AsyncGenerator<string> {
  const decoder = new StringDecoder()
  let begun: string[] = []
  let length = 0
  for await (const chunk of input ?? []) {
    const text = decoder.write(chunk)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      yield begun.join('') + text.slice(from, end)
      begun = []
      length = 0
      from = end + 1
    }
    begun.push(text.slice(from))
    length += text.length - from
    if (length > maxLine) return
  }
  const last = begun.join('') + decoder.end()
  if (last !== '') yield last
}

/**
 * Runs the commands of one line. `;` and line breaks separate commands. `&&` and `||` make the next command
 * conditional.
 */
async function runLine(text: string, place: ShellPlace, allowance: Allowance): Promise<number> {
  let commands: ShellCommand[]
  try {
    commands = splitCommands(text)
  } catch (error) {
    await place.printError(`sh: ${(error as Error).message}\n`)
    return 2
  }
  const slice = new TimeSlice()
  let code = 0
  for (const { words, after } of commands) {
    await slice.yieldIfDue()
    if (place.signal.aborted) return 130
    if ((after === '&&' && code !== 0) || (after === '||' && code === 0)) continue
    if (allowance.line.commandsLeft-- <= 0) {
      await place.printError(`sh: the line runs more than ${maxCommands} commands\n`)
      return cannotRun
    }
    const ended = await runWords(words, place, { ...allowance, code })
    if ('exit' in ended) return ended.exit
    code = ended.code
  }
  return code
}

/** Runs one command. Returns its exit code, or the exit code of the shell if the command ends the shell. */
async function runWords(
  words: readonly Word[],
  place: ShellPlace,
  { code, ...allowance }: Allowance & { readonly code: number },
): Promise<{ readonly code: number } | { readonly exit: number }> {
  try {
    const [name, ...args] = expandWords(words, (variable) => variableOf(variable, code, place))
    if (name === undefined) return { code }
    if (name === 'exit') return { exit: Number(args[0] ?? code) & 255 }
    if (!/^\w+=/.test(name)) return { code: await run([name, ...args], place, allowance) }
    assign(name, place)
    return { code }
  } catch (error) {
    if (!(error instanceof CommandMemoryError)) throw error
    await place.printError(`sh: ${error.message}\n`)
    return { code: cannotRun }
  }
}

function assign(text: string, { environment }: ShellPlace): void {
  const at = text.indexOf('=')
  environment.set(text.slice(0, at), text.slice(at + 1))
}

function variableOf(name: string, code: number, { environment }: ShellPlace): string {
  return name === '?' ? String(code) : (environment.get(name) ?? '')
}

async function echo(args: readonly string[], { print }: ShellPlace): Promise<number> {
  const isBare = args[0] === '-n'
  return await done(print(`${(isBare ? args.slice(1) : args).join(' ')}${isBare ? '' : '\n'}`))
}

async function printEnvironment(args: readonly string[], { environment, print }: ShellPlace): Promise<number> {
  const [name] = args
  if (name === undefined) {
    for (const [key, value] of environment.entries()) await print(`${key}=${value}\n`)
    return 0
  }
  const value = environment.get(name)
  if (value === undefined) return 1
  return await done(print(`${value}\n`))
}

async function cat(args: readonly string[], { files, print, printError, input }: ShellPlace): Promise<number> {
  if (args.length === 0) for await (const chunk of input ?? []) await print(chunk)
  let code = 0
  for (const path of args) {
    const content = await files.read(path)
    if (content !== undefined) for await (const part of content) await print(part)
    else {
      await printError(`cat: ${path}: No such file or directory\n`)
      code = 1
    }
  }
  return code
}

async function ls(args: readonly string[], { files, print, printError }: ShellPlace): Promise<number> {
  const [path = '.'] = args.filter((arg) => !arg.startsWith('-'))
  const description = await files.describe(path)
  const names = description?.type === 'file' ? [path] : await files.list(path)
  if (names === undefined) {
    await printError(`ls: ${path}: No such file or directory\n`)
    return 1
  }
  return await done(print(names.map((name) => `${name}\n`).join('')))
}

async function whoami(_args: readonly string[], { user, print, printError }: ShellPlace): Promise<number> {
  if (user === 0) return await done(print('root\n'))
  await printError(`whoami: unknown uid ${user}\n`)
  return 1
}

/** Implements `id`, which prints the user ID and the group ID. With `-u` or `-g`, prints only the respective ID. */
async function id([flag]: readonly string[], { user, group, print }: ShellPlace): Promise<number> {
  const named = (number: number) => `${number}${number === 0 ? '(root)' : ''}`
  const text = flag === '-u' ? user : flag === '-g' ? group : `uid=${named(user)} gid=${named(group)}`
  return await done(print(`${text}\n`))
}

async function ps(args: readonly string[], { program, print }: ShellPlace): Promise<number> {
  const rows = [
    ['PID', 'USER', 'TIME', 'COMMAND'],
    ['1', 'root', '0:00', program],
    ['2', 'root', '0:00', ['ps', ...args].join(' ')],
  ]
  const line = ([pid = '', user = '', time = '', command = '']: readonly string[]) =>
    `${pid.padStart(5)} ${user.padEnd(8)} ${time.padStart(5)} ${command}\n`
  return await done(print(rows.map(line).join('')))
}

/** Tests whether a path exists (`-e`), is a file (`-f`) or is a directory (`-d`). */
async function testFile([operator = '', path]: readonly string[], { files, printError }: ShellPlace): Promise<number> {
  if (!['-e', '-f', '-d'].includes(operator) || path === undefined) {
    await printError('test: this container is simulated: use test -e, -f or -d with a path\n')
    return 2
  }
  const type = (await files.describe(path))?.type
  const holds = operator === '-e' ? type !== undefined : type === (operator === '-f' ? 'file' : 'directory')
  return holds ? 0 : 1
}

const maxSleepMs = 86_400_000

async function sleep([text = '']: readonly string[], { printError, signal, speed }: ShellPlace): Promise<number> {
  const ms = text === 'infinity' ? maxSleepMs : parseDuration(/^\d+(?:\.\d+)?$/.test(text) ? `${text}s` : text)
  if (ms === undefined) {
    await printError(`sleep: invalid time interval '${text}'\n`)
    return 1
  }
  await pause(Math.min(ms / speed, maxSleepMs), signal)
  return signal.aborted ? 130 : 0
}
