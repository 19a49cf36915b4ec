/**
 * Determines how long the program of a simulated container runs, and its exit code. Known programs are `sleep`, `true`,
 * `false` and a shell that runs such commands, for example `sh -c "echo started; sleep 30; exit 3"`. All other programs
 * are unknown. Nothing is executed.
 */
import type { Container } from '../../../api/kinds/core/types/container.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { type ShellCommand, splitCommands } from './shell-words.ts'

/** How long a program runs before it exits, and its exit code. */
export interface ProgramRun {
  /** Duration of the program. Infinite for `sleep infinity`. */
  readonly ms: number
  readonly exitCode: number
}

type Words = readonly string[]

/**
 * Returns the duration and exit code of the container's program, or undefined if the program is unknown and may
 * therefore run forever.
 */
export function runOf({ command, args = [] }: Pick<Container, 'command' | 'args'>): ProgramRun | undefined {
  // Images of tools such as busybox have no entrypoint, so the arguments name the program.
  const [program = '', ...rest] = command === undefined || command.length === 0 ? args : [...command, ...args]
  if (!shells.has(baseName(program))) return run(baseName(program), rest)
  const [flag, script] = rest
  return flag === '-c' && script !== undefined ? runOfScript(script) : undefined
}

const shells = new Set(['sh', 'bash', 'ash'])
const instant = new Set(['true', ':', 'echo', 'printf'])

function baseName(program: string): string {
  return /^(?:\/usr)?\/bin\//.test(program) ? program.slice(program.lastIndexOf('/') + 1) : program
}

function run(program: string, args: Words): ProgramRun | undefined {
  if (instant.has(program)) return { ms: 0, exitCode: 0 }
  if (program === 'false') return { ms: 0, exitCode: 1 }
  if (program !== 'sleep' || args.length !== 1) return undefined
  const ms = sleepMs(args[0]!)
  return ms === undefined ? undefined : { ms, exitCode: 0 }
}

/** Parses the argument of `sleep`, for example `30`, `0.5`, `2m` or `infinity`. */
function sleepMs(text: string): number | undefined {
  if (text === 'infinity') return Number.POSITIVE_INFINITY
  return parseDuration(/^\d+(?:\.\d+)?$/.test(text) ? `${text}s` : text)
}

function runOfScript(script: string): ProgramRun | undefined {
  let ms = 0
  let exitCode = 0
  for (const { words, after } of commandsIn(script)) {
    if (after !== ';' && (exitCode === 0) !== (after === '&&')) continue
    const [program = '', ...args] = words
    if (program === 'exit') return { ms, exitCode: exitCodeOf(args, exitCode) }
    const next = program === 'exec' ? run(baseName(args[0] ?? ''), args.slice(1)) : run(baseName(program), args)
    if (next === undefined) return undefined
    ms += next.ms
    exitCode = next.exitCode
    if (program === 'exec') break
  }
  return { ms, exitCode }
}

interface PlainCommand extends Pick<ShellCommand, 'after'> {
  readonly words: Words
}

/** Returns the commands of a script. A command with unsupported syntax or variables counts as an unknown program. */
function commandsIn(script: string): PlainCommand[] {
  try {
    return splitCommands(script).map(({ words, after }) => ({
      after,
      words: words.map((word) => word.map(({ text, literal }) => (literal ? text : withoutVariables(text))).join('')),
    }))
  } catch {
    return [{ words: [unknown], after: ';' }]
  }
}

/** Placeholder for a variable or other syntax in a word. A word with a placeholder makes the program unknown. */
const unknown = '$'

function withoutVariables(text: string): string {
  return text.includes('$') ? unknown : text
}

function exitCodeOf([text]: Words, last: number): number {
  if (text === undefined) return last
  return /^\d{1,3}$/.test(text) ? Number(text) & 255 : 2
}
