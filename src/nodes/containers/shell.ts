/**
 * The commands of a simulated container: a few that only read (echo, env, cat, ls, hostname, ...), `sleep`, and `sh`,
 * which runs them one after the other. No program is started, whatever a client sends, and nothing is written.
 */
import { pause } from '../../base/abort.ts'
import { parseDuration } from '../../base/duration.ts'
import { expandWord, type ShellCommand, splitCommands } from './shell-words.ts'

/** Where commands run. */
export interface ShellPlace {
  readonly hostname: string
  readonly environment: Map<string, string>
  /** The content of a file; undefined where there is none. */
  readonly readFile: (path: string) => Promise<Buffer | undefined>
  /** The names in a directory; undefined where there is none. */
  readonly readDirectory: (path: string) => Promise<string[] | undefined>
  readonly print: (text: string | Buffer) => Promise<void>
  readonly printError: (text: string) => Promise<void>
  /** What the client sends; undefined where it sends nothing. */
  readonly input: AsyncIterable<Buffer> | undefined
  readonly signal: AbortSignal
}

type Builtin = (args: readonly string[], place: ShellPlace) => Promise<number>

const notFound = 127
const shells = new Set(['sh', 'bash', 'ash', '/bin/sh', '/bin/bash', '/bin/ash'])

/** By their names. */
const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['echo', echo],
  ['env', printEnvironment],
  ['printenv', printEnvironment],
  ['cat', cat],
  ['ls', ls],
  ['hostname', async (_args, { hostname, print }) => await done(print(`${hostname}\n`))],
  ['whoami', async (_args, { print }) => await done(print('root\n'))],
  ['pwd', async (_args, { print }) => await done(print('/\n'))],
  ['date', async (_args, { print }) => await done(print(`${new Date().toUTCString()}\n`))],
  ['uname', async (_args, { print }) => await done(print('Linux\n'))],
  ['sleep', sleep],
  ['true', async () => 0],
  ['false', async () => 1],
])

/** Whether a command can be run here. */
export function isCommand(name: string): boolean {
  return shells.has(name) || builtins.has(programOf(name))
}

/** Returns the exit code. */
export async function runCommand([name = '', ...args]: readonly string[], place: ShellPlace): Promise<number> {
  if (shells.has(name)) return await shell(args, place)
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

async function shell(args: readonly string[], place: ShellPlace): Promise<number> {
  const at = args.findIndex((arg) => /^-\w*c$/.test(arg))
  if (at >= 0) return await runLine(args[at + 1] ?? '', place)
  let code = 0
  for await (const line of linesOf(place.input)) {
    if (place.signal.aborted) break
    const exit = /^\s*exit(?:\s+(\d{1,3}))?\s*$/.exec(line)
    if (exit !== null) return Number(exit[1] ?? code) & 255
    code = await runLine(line, place)
  }
  return code
}

const maxLine = 64 * 1024

async function* linesOf(input: AsyncIterable<Buffer> | undefined): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of input ?? []) {
    rest += chunk.toString()
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.slice(0, end)
      rest = rest.slice(end + 1)
    }
    if (rest.length > maxLine) return
  }
  if (rest !== '') yield rest
}

/** Commands of one line: `;` and line breaks separate them, `&&` and `||` make the next depend on the last. */
async function runLine(line: string, place: ShellPlace): Promise<number> {
  let commands: ShellCommand[]
  try {
    commands = splitCommands(line)
  } catch (error) {
    await place.printError(`sh: ${(error as Error).message}\n`)
    return 2
  }
  let code = 0
  for (const { words, after } of commands) {
    if (place.signal.aborted) return 130
    if ((after === '&&' && code !== 0) || (after === '||' && code === 0)) continue
    const [name, ...args] = words.map((word) => expandWord(word, (variable) => variableOf(variable, code, place)))
    if (name === 'exit') return Number(args[0] ?? code) & 255
    const isAssignment = name !== undefined && /^\w+=/.test(name)
    if (isAssignment) assign(name, place)
    else if (name !== undefined) code = await runCommand([name, ...args], place)
  }
  return code
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
  if (name === undefined) return await done(print([...environment].map(([key, value]) => `${key}=${value}\n`).join('')))
  const value = environment.get(name)
  if (value === undefined) return 1
  return await done(print(`${value}\n`))
}

async function cat(args: readonly string[], { readFile, print, printError, input }: ShellPlace): Promise<number> {
  if (args.length === 0) for await (const chunk of input ?? []) await print(chunk)
  let code = 0
  for (const path of args) {
    const content = await readFile(path)
    if (content !== undefined) await print(content)
    else {
      await printError(`cat: ${path}: No such file or directory\n`)
      code = 1
    }
  }
  return code
}

async function ls(
  args: readonly string[],
  { readDirectory, readFile, print, printError }: ShellPlace,
): Promise<number> {
  const [path = '/'] = args.filter((arg) => !arg.startsWith('-'))
  const names = (await readDirectory(path)) ?? ((await readFile(path)) === undefined ? undefined : [path])
  if (names === undefined) {
    await printError(`ls: ${path}: No such file or directory\n`)
    return 1
  }
  return await done(print(names.map((name) => `${name}\n`).join('')))
}

const maxSleepMs = 86_400_000

async function sleep([text = '']: readonly string[], { printError, signal }: ShellPlace): Promise<number> {
  const ms = text === 'infinity' ? maxSleepMs : parseDuration(/^\d+(?:\.\d+)?$/.test(text) ? `${text}s` : text)
  if (ms === undefined) {
    await printError(`sleep: invalid time interval '${text}'\n`)
    return 1
  }
  await pause(Math.min(ms, maxSleepMs), signal)
  return signal.aborted ? 130 : 0
}
